#include "completion/reply/reasoning_text.hpp"

#include <algorithm>

#include "completion/reply/incoming.hpp"

namespace luce::completion {

void ReasoningText::push(std::string_view text) {
  if (at_start_) {
    const auto first = std::find_if_not(text.begin(), text.end(), is_space);
    text.remove_prefix(static_cast<size_t>(first - text.begin()));
    if (text.empty()) return;
    at_start_ = false;
  }
  held_.append(text);
  if (trimmed_length(text) == 0) return;
  const size_t certain = trimmed_length(held_);
  events_.add_reasoning(std::string_view(held_).substr(0, certain));
  held_.erase(0, certain);
}

void ReasoningText::call_begins() {
  held_.clear();
  at_start_ = true;
}

}  // namespace luce::completion
