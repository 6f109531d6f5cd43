#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sampling/settings.hpp"

namespace luce::sampling {

/// The tokens of a sequence so far, as the penalties count them.
class TokenHistory {
 public:
  explicit TokenHistory(std::span<const int32_t> prompt);
  void accept(int32_t token);

  /// Changes logits [vocabulary] by the three penalties.
  void penalise(const SamplingSettings& settings, std::span<float> logits) const;

 private:
  void penalise_repeats(const SamplingSettings& settings, std::span<float> logits) const;

  std::vector<int32_t> tokens_;                 // prompt and generated
  std::unordered_map<int32_t, int> generated_;  // token to how often
};

}  // namespace luce::sampling
