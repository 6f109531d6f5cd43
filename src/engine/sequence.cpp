#include "engine/sequence.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace luce::engine {

namespace {

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

sampling::SamplingSettings with_end_tokens_banned(const Request& request) {
  sampling::SamplingSettings settings = request.sampling;
  if (!request.ignore_eos) return settings;
  for (const int32_t token : request.end_tokens)
    settings.logit_bias.push_back({.token = token, .bias = -std::numeric_limits<float>::infinity()});
  return settings;
}

const char* message_of(sampling::SampleError error) {
  switch (error) {
    case sampling::SampleError::not_finite:
      return "the model gave logits that are not finite; nothing can be chosen from them";
    case sampling::SampleError::nothing_allowed: return "logit_bias and the output constraint leave no token to choose";
  }
  return "";
}

ErrorKind kind_of(sampling::SampleError error) {
  return error == sampling::SampleError::nothing_allowed ? ErrorKind::invalid_request : ErrorKind::internal;
}

}  // namespace

Sequence::Sequence(Waiting waiting, int slot, int cached_tokens, int most_generated)
    : waiting_(std::move(waiting)),
      slot_(slot),
      position_(cached_tokens),
      most_generated_(most_generated),
      sampler_(with_end_tokens_banned(request()), request().tokens),
      admitted_at_(Clock::now()),
      latest_token_at_(admitted_at_) {
  stats_.prompt_tokens = static_cast<int>(request().tokens.size());
  stats_.cached_tokens = cached_tokens;
  stats_.queue_seconds = seconds(admitted_at_ - waiting_.submitted);
  if (request().max_tokens >= 0) most_generated_ = std::min(most_generated_, request().max_tokens);
}

SequenceWork Sequence::work(int border) const {
  const bool decodes = decoding();
  return {.slot = slot_,
          .position = position_,
          .prompt_end = decodes ? position_ + 1 : prompt_tokens(),
          .border = decodes ? position_ + 1 : border,
          .decoding = decodes};
}

std::span<const int32_t> Sequence::next_tokens(int rows) const {
  if (decoding()) return {&latest_token_, 1};
  return std::span(request().tokens).subspan(static_cast<size_t>(position_), static_cast<size_t>(rows));
}

void Sequence::add_expert_share(const ExpertStats& step, double share) {
  stats_.experts.hits += share * step.hits;
  stats_.experts.misses += share * step.misses;
  stats_.experts.bytes_fetched += share * step.bytes_fetched;
  stats_.experts.stall_ms += share * step.stall_ms;
  stats_.experts.substituted += share * step.substituted;
  stats_.experts.dropped += share * step.dropped;
  stats_.experts.reweighted += share * step.reweighted;
}

bool Sequence::is_end(int32_t token) const {
  const std::vector<int32_t>& ends = request().end_tokens;
  return std::find(ends.begin(), ends.end(), token) != ends.end();
}

void Sequence::take_logits(std::span<const float> logits) {
  if (most_generated_ == 0) return finish(FinishReason::length);
  sampling::SampleResult result = sampler_.sample(logits, request().constraint.get());
  if (const auto* error = std::get_if<sampling::SampleError>(&result)) {
    const bool only_end_left = *error == sampling::SampleError::nothing_allowed && request().constraint != nullptr;
    if (only_end_left && request().ignore_eos) return finish(FinishReason::end_token);
    return fail(kind_of(*error), message_of(*error));
  }
  take_token(std::move(std::get<sampling::Sample>(result)));
}

void Sequence::take_token(sampling::Sample sample) {
  latest_token_at_ = Clock::now();
  if (stats_.generated_tokens == 0) first_token_at_ = latest_token_at_;
  if (is_end(sample.token)) return finish(FinishReason::end_token);
  latest_token_ = sample.token;
  sampler_.accept(sample.token);
  if (request().constraint != nullptr) request().constraint->accept(sample.token);
  ++stats_.generated_tokens;
  waiting_.ticket->send(Token{.id = sample.token, .logprob = sample.logprob, .top = std::move(sample.top)});
  if (stats_.generated_tokens == most_generated_) finish(FinishReason::length);
}

void Sequence::close_clock() {
  const Clock::time_point now = Clock::now();
  const bool began = first_token_at_ != Clock::time_point{};
  stats_.prompt_seconds = seconds((began ? first_token_at_ : now) - admitted_at_);
  stats_.first_token_seconds = began ? seconds(first_token_at_ - waiting_.submitted) : 0;
  stats_.decode_seconds = began ? seconds(now - first_token_at_) : 0;
}

void Sequence::finish(FinishReason reason) {
  close_clock();
  end_ = Finished{.reason = reason, .stats = stats_};
}

void Sequence::fail(ErrorKind kind, const std::string& message) {
  close_clock();
  end_ = Failed{.kind = kind, .message = message, .stats = stats_};
}

}  // namespace luce::engine
