#include "engine/metrics.hpp"

#include <variant>

namespace luce::engine {

namespace {

constexpr const char* kRequestsHelp = "Requests that ended, by how.";

std::string outcome_of(const Event& end) {
  if (const auto* failed = std::get_if<Failed>(&end)) return base::traits(failed->kind).label;
  return std::get<Finished>(end).reason == FinishReason::length ? "length" : "stop";
}

}  // namespace

Metrics::Metrics(telemetry::Registry* registry) : registry_(registry) {
  if (registry == nullptr) return;
  queue_length_ = registry->gauge({"luce_queue_length", "Requests that wait for a sequence slot."});
  running_ = registry->gauge({"luce_requests_running", "Requests that hold a sequence slot."});
  cached_state_bytes_ =
      registry->gauge({"luce_prompt_cache_state_bytes", "Bytes of recurrent state kept to resume conversations."});
  prompt_tokens_ = registry->counter({"luce_prompt_tokens_total", "Prompt tokens computed."});
  cached_tokens_ = registry->counter({"luce_prompt_cached_tokens_total", "Prompt tokens taken from the prompt cache."});
  generated_tokens_ = registry->counter({"luce_generated_tokens_total", "Tokens generated."});
  first_token_ms_ =
      registry->histogram({"luce_time_to_first_token_ms", "Milliseconds from a request to its first token."},
                          telemetry::exponential_bounds(1, 2, 18));
  token_ms_ = registry->histogram({"luce_inference_latency_ms", "Milliseconds per output token after the first."},
                                  telemetry::exponential_bounds(0.5, 1.6, 22));
  for (const char* outcome : {"stop", "length", "cancelled"})
    (void)registry->counter({"luce_requests_total", kRequestsHelp, {{"outcome", outcome}}});
}

void Metrics::first_token(std::chrono::duration<double, std::milli> since_submit) const {
  generated_tokens_.add();
  first_token_ms_.observe(since_submit.count());
}

void Metrics::next_token(std::chrono::duration<double, std::milli> since_previous) const {
  generated_tokens_.add();
  token_ms_.observe(since_previous.count());
}

void Metrics::ended(const Event& end) const { count(outcome_of(end)); }

void Metrics::count(const std::string& outcome) const {
  if (registry_ != nullptr) registry_->counter({"luce_requests_total", kRequestsHelp, {{"outcome", outcome}}}).add();
}

}  // namespace luce::engine
