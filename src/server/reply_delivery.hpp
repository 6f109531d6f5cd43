#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "completion/completer.hpp"
#include "server/exchange.hpp"
#include "server/generation_fields.hpp"
#include "server/reply_format.hpp"
#include "server/usage_totals.hpp"

namespace luce::server {

/// How a request ended, for metrics and the access log.
enum class Outcome { completed, rejected, overloaded, cancelled, failed };
const char* outcome_name(Outcome outcome);

struct DeliverySettings {
  DeliveryOptions options;
  int choices_per_prompt = 1;
  std::chrono::milliseconds keep_alive_interval{10'000};  // comments in a silent stream
};

/// Reads the running replies of one request to their end and sends them, as a stream or as one whole answer. A client
/// that leaves cancels all of them.
class ReplyDelivery {
 public:
  ReplyDelivery(Exchange& exchange, ReplyFormat& format, DeliverySettings settings);

  Outcome run(std::vector<completion::Reply> replies);
  const UsageTotals& totals() const { return totals_; }

 private:
  bool pump(std::vector<completion::Reply>& replies);
  bool take(int choice, const completion::TextEvent& event);
  bool stream_event(int choice, const completion::TextEvent& event);
  bool idle();
  bool send_frame(const std::string& json);
  void fail_with(const completion::Failure& failure);
  Outcome finish();

  Exchange& exchange_;
  ReplyFormat& format_;
  DeliverySettings settings_;
  UsageTotals totals_;
  size_t running_ = 0;
  bool failed_ = false;
  Clock::time_point last_sent_;
};

}  // namespace luce::server
