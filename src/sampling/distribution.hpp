#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampling/settings.hpp"

namespace luce::sampling {

struct Candidate {
  int32_t token = 0;
  float logit = 0;
  double probability = 0;
};

/// The tokens that top_k, top_p, min_p and the temperature leave, with probabilities that sum to 1.
/// Never empty for finite logits (-inf marks banned tokens). Tokens far below a double's precision are left out.
std::vector<Candidate> distribution(std::span<const float> logits, const SamplingSettings& settings);

}  // namespace luce::sampling
