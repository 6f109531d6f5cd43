#include "completion/reply/reply_events.hpp"

#include <iterator>

namespace luce::completion {

void ReplyEvents::add_reasoning(std::string_view text) {
  if (text.empty()) return;
  if (ReasoningDelta* delta = latest<ReasoningDelta>())
    delta->text.append(text);
  else
    events_.push_back(ReasoningDelta{.text = std::string(text)});
}

void ReplyEvents::add_content(std::string_view text, size_t at) {
  if (text.empty()) return;
  std::vector<TokenText> tokens = trail_.take(at, at + text.size());
  if (ContentDelta* delta = latest<ContentDelta>()) {
    delta->text.append(text);
    delta->tokens.insert(delta->tokens.end(), std::make_move_iterator(tokens.begin()),
                         std::make_move_iterator(tokens.end()));
  } else {
    events_.push_back(ContentDelta{.text = std::string(text), .tokens = std::move(tokens)});
  }
}

void ReplyEvents::add_arguments(int index, std::string_view text) {
  if (text.empty()) return;
  if (ToolCallArguments* delta = latest<ToolCallArguments>(); delta != nullptr && delta->index == index)
    delta->text.append(text);
  else
    events_.push_back(ToolCallArguments{.index = index, .text = std::string(text)});
}

}  // namespace luce::completion
