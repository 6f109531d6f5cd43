#include "server/usage_totals.hpp"

#include <algorithm>
#include <cmath>

namespace luce::server {
namespace {

using completion::Json;

double per_second(int count, double seconds) { return seconds > 0 ? count / seconds : 0.0; }

/// To three decimals, so that the JSON text stays short.
double rounded(double value) { return std::round(value * 1000) / 1000; }

}  // namespace

void UsageTotals::add(const completion::Done& done, bool first_of_prompt) {
  const engine::RequestStats& stats = done.stats;
  if (first_of_prompt) {
    usage_.prompt_tokens += done.usage.prompt_tokens;
    usage_.cached_tokens += done.usage.cached_tokens;
  }
  usage_.completion_tokens += done.usage.completion_tokens;
  usage_.reasoning_tokens += done.usage.reasoning_tokens;
  prompt_tokens_computed_ += stats.prompt_tokens - stats.cached_tokens;
  decoded_tokens_ += std::max(0, stats.generated_tokens - 1);
  stats_.queue_seconds = std::max(stats_.queue_seconds, stats.queue_seconds);
  stats_.prompt_seconds += stats.prompt_seconds;
  stats_.decode_seconds = std::max(stats_.decode_seconds, stats.decode_seconds);
  stats_.first_token_seconds = std::max(stats_.first_token_seconds, stats.first_token_seconds);
  stats_.experts.hits += stats.experts.hits;
  stats_.experts.misses += stats.experts.misses;
  stats_.experts.bytes_fetched += stats.experts.bytes_fetched;
  stats_.experts.stall_ms += stats.experts.stall_ms;
  stats_.experts.substituted += stats.experts.substituted;
  stats_.experts.dropped += stats.experts.dropped;
  stats_.experts.reweighted += stats.experts.reweighted;
}

Json UsageTotals::usage() const {
  return {{"prompt_tokens", usage_.prompt_tokens},
          {"completion_tokens", usage_.completion_tokens},
          {"total_tokens", usage_.prompt_tokens + usage_.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage_.cached_tokens}}},
          {"completion_tokens_details", {{"reasoning_tokens", usage_.reasoning_tokens}}}};
}

Json UsageTotals::timings() const {
  const engine::ExpertStats& experts = stats_.experts;
  return {{"queue_ms", rounded(stats_.queue_seconds * 1e3)},
          {"time_to_first_token_ms", rounded(stats_.first_token_seconds * 1e3)},
          {"prompt_tokens_per_second", rounded(per_second(prompt_tokens_computed_, stats_.prompt_seconds))},
          {"tokens_per_second", rounded(per_second(decoded_tokens_, stats_.decode_seconds))},
          {"experts",
           {{"hits", std::llround(experts.hits)},
            {"misses", std::llround(experts.misses)},
            {"bytes_fetched", std::llround(experts.bytes_fetched)},
            {"stall_ms", rounded(experts.stall_ms)},
            {"substituted", std::llround(experts.substituted)},
            {"dropped", std::llround(experts.dropped)},
            {"reweighted", std::llround(experts.reweighted)}}}};
}

}  // namespace luce::server
