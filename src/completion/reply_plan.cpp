#include "completion/reply_plan.hpp"

#include <utility>

namespace luce::completion {

std::unique_ptr<ReplyReader> ReplyPlan::reader(const std::vector<std::string>& stop) const {
  ReplyRules rules;
  rules.tools = &tools;
  rules.chat = chat;
  rules.stop = stop;
  rules.new_call_id = format->new_call_id;
  if (!chat) return make_tag_reader(std::move(rules));
  if (!tools.empty()) rules.calls = format->calls.get();
  rules.shows_calls = tool_choice.mode != ToolMode::none && !tools.empty();
  // A forced call is all that the client asked for.
  const bool forced = tool_choice.mode == ToolMode::named || tool_choice.mode == ToolMode::required;
  rules.one_call = !parallel_tool_calls || forced;
  rules.think_open = format->think_open;
  rules.think_close = format->think_close;
  rules.starts_in_reasoning = starts_in_reasoning;
  return make_reply_reader(*format, std::move(rules));
}

}  // namespace luce::completion
