#include "server/reply_delivery.hpp"

#include "base/format.hpp"
#include "server/error_body.hpp"

namespace luce::server {
namespace {

// How soon a client that has left is noticed while nothing is generated.
constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr auto kPollOfSeveral = std::chrono::milliseconds(5);

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

ApiError error_of(const completion::Failure& failure) {
  if (failure.kind == ErrorKind::cancelled)
    return api_error(ErrorKind::overloaded, "The server ended this request: " + failure.message);
  return api_error(failure.kind, failure.message);
}

}  // namespace

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::completed: return "completed";
    case Outcome::rejected: return "rejected";
    case Outcome::overloaded: return "overloaded";
    case Outcome::cancelled: return "cancelled";
    case Outcome::failed: return "failed";
  }
  return "failed";
}

ReplyDelivery::ReplyDelivery(Exchange& exchange, ReplyFormat& format, DeliverySettings settings)
    : exchange_(exchange), format_(format), settings_(settings), last_sent_(Clock::now()) {}

Outcome ReplyDelivery::run(std::vector<completion::Reply> replies) {
  if (settings_.options.stream) exchange_.begin_stream("text/event-stream; charset=utf-8");
  running_ = replies.size();
  const bool to_the_end = pump(replies);
  for (completion::Reply& each : replies) each.cancel();
  if (failed_) return Outcome::failed;
  if (!to_the_end) {
    exchange_.break_off();
    return Outcome::cancelled;
  }
  return finish();
}

bool ReplyDelivery::pump(std::vector<completion::Reply>& replies) {
  const auto patience = replies.size() == 1 ? kPoll : kPollOfSeveral;
  auto last_checked = Clock::now();
  while (running_ > 0) {
    bool any = false;
    for (size_t i = 0; i < replies.size(); ++i) {
      if (replies[i].ended()) continue;
      const auto event = replies[i].next(any ? std::chrono::milliseconds(0) : patience);
      if (!event) continue;
      any = true;
      if (!take(static_cast<int>(i), *event)) return false;
    }
    if (any && Clock::now() - last_checked < kPoll) continue;
    last_checked = Clock::now();
    if (!idle()) return false;
  }
  return true;
}

bool ReplyDelivery::take(int choice, const completion::TextEvent& event) {
  if (const auto* failure = std::get_if<completion::Failure>(&event)) {
    fail_with(*failure);
    return false;
  }
  if (const auto* done = std::get_if<completion::Done>(&event)) {
    totals_.add(*done, choice % settings_.choices_per_prompt == 0);
    --running_;
  }
  if (settings_.options.stream) return stream_event(choice, event);
  format_.collect(choice, event);
  return true;
}

bool ReplyDelivery::stream_event(int choice, const completion::TextEvent& event) {
  std::vector<Json> chunks = format_.chunks(choice, event);
  const bool last = running_ == 0 && !settings_.options.include_usage;
  if (last && !chunks.empty()) chunks.back()["timings"] = totals_.timings();
  std::string frames;
  for (const Json& each : chunks) frames += format_.frame(each);
  last_sent_ = Clock::now();
  return exchange_.write(frames);
}

bool ReplyDelivery::idle() {
  if (exchange_.client_gone()) return false;
  if (!settings_.options.stream || Clock::now() - last_sent_ < settings_.keep_alive_interval) return true;
  last_sent_ = Clock::now();
  return exchange_.write(": keep-alive\n\n");
}

void ReplyDelivery::fail_with(const completion::Failure& failure) {
  failed_ = true;
  if (!exchange_.streaming()) return exchange_.respond_error(error_of(failure));
  ApiError error = error_of(failure);
  if (error.code.empty()) error.code = error.type;
  exchange_.write(format_.frame(format_.failure_chunk(Json::parse(error_json(error)))));
  exchange_.end_stream();
  exchange_.break_off();
}

Outcome ReplyDelivery::finish() {
  if (!exchange_.streaming()) {
    Json body = format_.whole(totals_.usage());
    body["timings"] = totals_.timings();
    exchange_.respond({200, "application/json", dump(body), {}});
    return Outcome::completed;
  }
  if (settings_.options.include_usage) {
    Json chunk = format_.usage_chunk(totals_.usage());
    chunk["timings"] = totals_.timings();
    exchange_.write(format_.frame(chunk));
  }
  const bool sent = exchange_.write(format_.last_frame());
  exchange_.end_stream();
  return sent ? Outcome::completed : Outcome::cancelled;
}

}  // namespace luce::server
