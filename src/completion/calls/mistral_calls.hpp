#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "completion/calls/call_parser.hpp"

namespace luce::completion {

/// [TOOL_CALLS] and a JSON list of calls, or [TOOL_CALLS]NAME[ARGS]{...} in newer models.
class MistralSyntax : public CallSyntax {
 public:
  std::span<const std::string> openers() const override;
  std::unique_ptr<CallParser> parser(const ToolSet& tools) const override;
};

}  // namespace luce::completion
