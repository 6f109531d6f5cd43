#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "completion/calls/call_sink.hpp"
#include "completion/calls/tool_set.hpp"
#include "completion/reply/reply_events.hpp"

namespace luce::completion {

/// Gives the calls of a reply their index and id and passes them on.
class CallEvents : public CallSink {
 public:
  /// Calls beyond `most` are dropped.
  CallEvents(ReplyEvents& events, std::function<std::string()> new_id, int most);

  /// Called before each call begins.
  std::function<void()> before_call;

  void begin(std::string_view function) override;
  void arguments(std::string_view json) override;
  void end() override { ++complete_; }

  /// Calls that were passed on, perhaps not to their end.
  int shown() const { return std::min(begun_, most_); }
  int complete() const { return complete_; }

 private:
  ReplyEvents& events_;
  std::function<std::string()> new_id_;
  int most_;
  int begun_ = 0;
  int complete_ = 0;
};

/// Keeps calls until it is certain that they are wanted.
class HeldCalls : public CallSink {
 public:
  explicit HeldCalls(const ToolSet& tools) : tools_(tools) {}
  void begin(std::string_view function) override;
  void arguments(std::string_view json) override { calls_.back().arguments.append(json); }
  void end() override {}
  /// All calls are of offered functions.
  bool all_offered() const { return all_offered_; }
  void pass_on(CallSink& sink) const;

 private:
  struct Call {
    std::string function;
    std::string arguments;
  };
  const ToolSet& tools_;
  std::vector<Call> calls_;
  bool all_offered_ = true;
};

}  // namespace luce::completion
