#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "completion/calls/call_parser.hpp"

namespace luce::completion {

/// The calls of DeepSeek V3.1, NAME and a JSON object between control tokens, and of V3 and R1, where "function" comes
/// first and the object stands in a code block.
class DeepSeekSyntax : public CallSyntax {
 public:
  std::span<const std::string> openers() const override;
  std::unique_ptr<CallParser> parser(const ToolSet& tools) const override;
  /// Texts of all control tokens in the markup.
  static std::span<const std::string> tokens();
};

}  // namespace luce::completion
