#pragma once

#include <string>
#include <utility>
#include <vector>

#include "completion/reply/token_trail.hpp"
#include "completion/text_event.hpp"

namespace luce::completion {

/// The deltas of a reply, neighbours of one kind joined.
class ReplyEvents {
 public:
  TokenTrail& trail() { return trail_; }

  void add_reasoning(std::string_view text);
  /// Text that lies at byte `at` of the whole reply.
  void add_content(std::string_view text, size_t at);
  void begin_call(ToolCallBegin call) { events_.push_back(std::move(call)); }
  void add_arguments(int index, std::string_view text);

  std::vector<TextEvent> take() { return std::exchange(events_, {}); }

 private:
  template <typename Event>
  Event* latest() {
    return events_.empty() ? nullptr : std::get_if<Event>(&events_.back());
  }

  TokenTrail trail_;
  std::vector<TextEvent> events_;
};

}  // namespace luce::completion
