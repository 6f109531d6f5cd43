#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "completion/reply/reply_events.hpp"
#include "completion/reply/stop_matcher.hpp"

namespace luce::completion {

/// The answer part of a reply on its way to the client: stop strings end it, white space beside calls is dropped, and
/// so is a stray think tag at its end.
class AnswerText {
 public:
  struct Style {
    bool trims = true;           // false: every byte is shown, as in text completions
    std::string stray_tag = {};  // dropped at the very end; empty: none
    std::vector<std::string> stop = {};
  };

  AnswerText(Style style, ReplyEvents& events);

  /// Line breaks at the beginning are dropped.
  void after_reasoning() { dropping_ = Dropping::line_breaks; }
  /// Text at byte `at` of the whole reply.
  void push(std::string_view text, size_t at);
  void call_begins();
  void finish();

  bool stopped() const { return stop_.stopped(); }
  std::string stop_string() const { return stop_.matched(); }

 private:
  enum class Dropping { nothing, line_breaks, space };

  std::string_view without_dropped(std::string_view text);
  void hold(std::string_view text);
  size_t certain_length() const;
  void show(size_t bytes);

  Style style_;
  ReplyEvents& events_;
  StopMatcher stop_;
  Dropping dropping_ = Dropping::nothing;
  std::string held_;    // passed the stop strings, waits for what follows
  size_t held_at_ = 0;  // where it lies in the whole reply
  bool shown_ = false;
};

}  // namespace luce::completion
