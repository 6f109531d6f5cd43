#pragma once

#include <string>
#include <string_view>

#include "completion/reply/reply_events.hpp"

namespace luce::completion {

/// The reasoning part of a reply: white space at both ends and beside calls is dropped.
class ReasoningText {
 public:
  explicit ReasoningText(ReplyEvents& events) : events_(events) {}
  void push(std::string_view text);
  void call_begins();
  void finish() { held_.clear(); }

 private:
  ReplyEvents& events_;
  bool at_start_ = true;
  std::string held_;  // white space that may be the last
};

}  // namespace luce::completion
