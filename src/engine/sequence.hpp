#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/event.hpp"
#include "engine/request.hpp"
#include "engine/scheduler.hpp"
#include "engine/ticket.hpp"
#include "sampling/sampler.hpp"

namespace luce::engine {

/// A request that waits for a sequence slot.
struct Waiting {
  Request request;
  std::shared_ptr<Ticket> ticket;
  Clock::time_point submitted;
  uint64_t number = 0;  // in order of admission
};

/// A request in a sequence slot: what is computed, what was generated, and its end. Step thread only.
class Sequence {
 public:
  /// `cached_tokens` of the prompt are already computed; at most `most_generated` tokens fit the context.
  Sequence(Waiting waiting, int slot, int cached_tokens, int most_generated);

  const Request& request() const { return waiting_.request; }
  uint64_t number() const { return waiting_.number; }
  int slot() const { return slot_; }
  Wish wish() const { return waiting_.ticket->wish(); }
  bool decoding() const { return position_ >= prompt_tokens(); }
  bool ended() const { return end_.has_value(); }
  const RequestStats& stats() const { return stats_; }

  /// The next step's work; `border` is where a prompt chunk must stop.
  SequenceWork work(int border) const;
  /// Tokens of `rows` positions from the first that is not computed.
  std::span<const int32_t> next_tokens(int rows) const;
  void advance(int rows) { position_ += rows; }
  int position() const { return position_; }
  void add_expert_share(const ExpertStats& step, double share);

  /// Chooses a token and sends it; sets the terminal event where it is the last.
  void take_logits(std::span<const float> logits);
  /// Sets the terminal event.
  void finish(FinishReason reason);
  void fail(ErrorKind kind, const std::string& message);
  const Event& end() const { return *end_; }
  /// Sends it: last of all, when the slot is free again.
  void send_end() { waiting_.ticket->send(std::move(*end_)); }

  Clock::time_point submitted_at() const { return waiting_.submitted; }
  /// When the latest token was sent; the time of admission before the first.
  Clock::time_point latest_token_at() const { return latest_token_at_; }

 private:
  int prompt_tokens() const { return stats_.prompt_tokens; }
  bool is_end(int32_t token) const;
  void take_token(sampling::Sample sample);
  void close_clock();

  Waiting waiting_;
  int slot_;
  int position_;
  int most_generated_;
  std::optional<Event> end_;
  int32_t latest_token_ = -1;
  sampling::Sampler sampler_;
  RequestStats stats_;
  Clock::time_point admitted_at_;
  Clock::time_point first_token_at_;
  Clock::time_point latest_token_at_;
};

}  // namespace luce::engine
