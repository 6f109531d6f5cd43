#pragma once

#include <memory>

#include "completion/calls/tool_set.hpp"
#include "completion/grammar/program.hpp"
#include "completion/input.hpp"
#include "completion/reply/reply_format.hpp"

namespace luce::completion {

/// How the reply to one prompt is read.
struct ReplyPlan {
  std::shared_ptr<const ReplyFormat> format = {};
  bool chat = false;  // false: a text completion, shown byte for byte
  ToolSet tools = {};
  ToolChoice tool_choice = {};
  bool parallel_tool_calls = true;
  bool starts_in_reasoning = false;
  bool may_reason = false;                             // the model may open a think block itself
  std::shared_ptr<const GrammarProgram> grammar = {};  // of the whole reply; null: it is free

  /// The plan must outlive the reader.
  std::unique_ptr<ReplyReader> reader(const std::vector<std::string>& stop) const;
};

}  // namespace luce::completion
