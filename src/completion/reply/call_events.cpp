#include "completion/reply/call_events.hpp"

#include <utility>

namespace luce::completion {

CallEvents::CallEvents(ReplyEvents& events, std::function<std::string()> new_id, int most)
    : events_(events), new_id_(std::move(new_id)), most_(most) {}

void CallEvents::begin(std::string_view function) {
  before_call();
  if (begun_ < most_) events_.begin_call({.index = begun_, .id = new_id_(), .name = std::string(function)});
  ++begun_;
}

void CallEvents::arguments(std::string_view json) {
  if (begun_ <= most_) events_.add_arguments(begun_ - 1, json);
}

void HeldCalls::begin(std::string_view function) {
  all_offered_ = all_offered_ && tools_.offers(function);
  calls_.push_back({.function = std::string(function), .arguments = {}});
}

void HeldCalls::pass_on(CallSink& sink) const {
  for (const Call& call : calls_) {
    sink.begin(call.function);
    sink.arguments(call.arguments);
    sink.end();
  }
}

}  // namespace luce::completion
