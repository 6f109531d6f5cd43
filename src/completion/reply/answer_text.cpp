#include "completion/reply/answer_text.hpp"

#include <algorithm>
#include <utility>

#include "completion/reply/incoming.hpp"

namespace luce::completion {

AnswerText::AnswerText(Style style, ReplyEvents& events)
    : style_(std::move(style)), events_(events), stop_(style_.stop) {}

std::string_view AnswerText::without_dropped(std::string_view text) {
  if (dropping_ == Dropping::nothing || !style_.trims) return text;
  const auto kept = std::find_if_not(text.begin(), text.end(), [&](char c) {
    return dropping_ == Dropping::space ? is_space(c) : c == '\n' || c == '\r';
  });
  if (kept != text.end()) dropping_ = Dropping::nothing;
  return text.substr(static_cast<size_t>(kept - text.begin()));
}

void AnswerText::push(std::string_view text, size_t at) {
  if (stopped()) return;
  const std::string_view kept = without_dropped(text);
  if (held_.empty() && stop_.waiting_bytes() == 0) held_at_ = at + text.size() - kept.size();
  hold(stop_.push(kept));
  if (stopped()) show(held_.size());
}

void AnswerText::hold(std::string_view text) {
  const bool goes_on_waiting = style_.trims && trimmed_length(text) == 0 && (held_.empty() || is_space(held_.back()));
  held_.append(text);
  if (goes_on_waiting) return;  // a long run of white space is not looked through for each of its pieces
  show(style_.trims ? certain_length() : held_.size());
}

// How much of what is held stays whatever follows: white space at the end may precede a call, a think tag may be stray.
size_t AnswerText::certain_length() const {
  const std::string_view held = held_;
  const std::string_view tag = style_.stray_tag;
  const size_t trimmed = trimmed_length(held);
  if (tag.empty()) return trimmed;
  if (held.substr(0, trimmed).ends_with(tag)) return trimmed_length(held.substr(0, trimmed - tag.size()));
  return std::min(trimmed, trimmed_length(held.substr(0, held.size() - partial_suffix(held, tag))));
}

void AnswerText::show(size_t bytes) {
  if (bytes == 0) return;
  events_.add_content(std::string_view(held_).substr(0, bytes), held_at_);
  held_.erase(0, bytes);
  held_at_ += bytes;
  shown_ = true;
}

void AnswerText::call_begins() {
  hold(stop_.flush());
  if (style_.trims) show(trimmed_length(held_));
  held_.clear();
  dropping_ = Dropping::space;
}

void AnswerText::finish() {
  if (stopped()) return;
  hold(stop_.flush());
  const std::string_view held = held_;
  const bool stray = !style_.stray_tag.empty() && held.substr(0, trimmed_length(held)).ends_with(style_.stray_tag);
  const bool blank = trimmed_length(held) == 0 && !shown_;
  if (!stray && !blank) show(held_.size());
}

}  // namespace luce::completion
