#include "sampling/sampler.hpp"

#include <limits>
#include <optional>
#include <utility>

#include "sampling/logprobs.hpp"

namespace luce::sampling {

namespace {

constexpr float kBanned = -std::numeric_limits<float>::infinity();

// -inf may mark tokens that the model rules out, but not all of them.
bool sound(std::span<const float> logits) {
  bool possible = false;
  for (const float logit : logits) {
    if (!(logit <= std::numeric_limits<float>::max())) return false;
    possible = possible || logit != kBanned;
  }
  return possible;
}

int32_t draw(std::span<const Candidate> candidates, double uniform) {
  int32_t last_possible = candidates.front().token;
  for (const Candidate& candidate : candidates) {
    if (candidate.probability <= 0) continue;
    last_possible = candidate.token;
    uniform -= candidate.probability;
    if (uniform < 0) break;
  }
  return last_possible;
}

}  // namespace

Sampler::Sampler(SamplingSettings settings, std::span<const int32_t> prompt)
    : settings_(std::move(settings)), history_(prompt), random_(settings_.seed) {}

void Sampler::accept(int32_t token) { history_.accept(token); }

SampleResult Sampler::sample(std::span<const float> logits, TokenConstraint* constraint) {
  if (!sound(logits)) return SampleError::not_finite;
  const auto chosen = choose(logits, constraint);
  if (const auto* error = std::get_if<SampleError>(&chosen)) return *error;
  const int32_t token = std::get<int32_t>(chosen);
  if (!settings_.logprobs) return Sample{.token = token, .logprob = 0, .top = {}};
  return with_logprobs(logits, token, settings_.top_logprobs);
}

std::variant<int32_t, SampleError> Sampler::choose(std::span<const float> logits, TokenConstraint* constraint) {
  if (constraint != nullptr) {
    if (const std::optional<int32_t> forced = constraint->forced()) return *forced;
  }
  adjusted_.assign(logits.begin(), logits.end());
  history_.penalise(settings_, adjusted_);
  for (const LogitBias& bias : settings_.logit_bias)
    if (bias.token >= 0 && static_cast<size_t>(bias.token) < adjusted_.size()) adjusted_[bias.token] += bias.bias;
  auto chosen = pick(adjusted_);
  if (constraint == nullptr) return chosen;
  // Masking a large vocabulary is dear, so it waits until a token that is not allowed was drawn.
  if (const auto* token = std::get_if<int32_t>(&chosen); token != nullptr && constraint->allows(*token)) return chosen;
  constraint->mask(adjusted_);
  return pick(adjusted_);
}

std::variant<int32_t, SampleError> Sampler::pick(std::span<const float> logits) {
  const std::span<const Candidate> candidates = distribution_.compute(logits, settings_);
  if (candidates.empty() || candidates.front().logit == kBanned) return SampleError::nothing_allowed;
  if (candidates.size() == 1) return candidates.front().token;
  return draw(candidates, random_.uniform());
}

}  // namespace luce::sampling
