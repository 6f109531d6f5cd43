#pragma once

#include <cstdint>
#include <span>

#include "sampling/sampler.hpp"

namespace luce::sampling {

/// Adds log-probabilities of the model's own distribution, logits [vocabulary], to a chosen token.
Sample with_logprobs(std::span<const float> logits, int32_t token, int top_logprobs);

}  // namespace luce::sampling
