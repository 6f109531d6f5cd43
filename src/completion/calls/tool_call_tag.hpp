#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "completion/calls/call_parser.hpp"

namespace luce::completion {

/// Calls inside <tool_call> tags, in the three forms that models write there: <function=NAME> tags (Qwen3.5,
/// Qwen3-Coder), a JSON object (Qwen3, Hermes), or, where the template shows them, <arg_key> and <arg_value> (GLM,
/// Laguna). <function=NAME> of an offered function alone is a call too.
class ToolCallTagSyntax : public CallSyntax {
 public:
  explicit ToolCallTagSyntax(bool key_values);
  std::span<const std::string> openers() const override { return openers_; }
  std::unique_ptr<CallParser> parser(const ToolSet& tools) const override;

 private:
  bool key_values_;
  std::vector<std::string> openers_;
};

}  // namespace luce::completion
