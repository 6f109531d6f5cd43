#include "sampling/token_history.hpp"

#include <algorithm>

namespace luce::sampling {

TokenHistory::TokenHistory(std::span<const int32_t> prompt) : tokens_(prompt.begin(), prompt.end()) {}

void TokenHistory::accept(int32_t token) {
  tokens_.push_back(token);
  ++generated_[token];
}

void TokenHistory::penalise(const SamplingSettings& settings, std::span<float> logits) const {
  if (settings.repeat_penalty != 1.0f) penalise_repeats(settings, logits);
  if (settings.presence_penalty == 0.0f && settings.frequency_penalty == 0.0f) return;
  for (const auto& [token, count] : generated_)
    logits[token] -= settings.presence_penalty + settings.frequency_penalty * static_cast<float>(count);
}

void TokenHistory::penalise_repeats(const SamplingSettings& settings, std::span<float> logits) const {
  const size_t all = tokens_.size();
  const int last = settings.repeat_last_tokens;
  const size_t window = last < 0 ? all : std::min(all, static_cast<size_t>(last));
  std::vector<int32_t> seen(tokens_.end() - static_cast<std::ptrdiff_t>(window), tokens_.end());
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (const int32_t token : seen) {
    float& logit = logits[token];
    logit = logit > 0 ? logit / settings.repeat_penalty : logit * settings.repeat_penalty;
  }
}

}  // namespace luce::sampling
