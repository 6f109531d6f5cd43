#pragma once

#include <memory>

#include "experts/policy.hpp"

namespace luce::experts {

/// Recency alone.
std::unique_ptr<LayerPolicy> make_lru();

/// Uses since the start, recency breaking ties.
std::unique_ptr<LayerPolicy> make_lfu(int experts);

/// Uses decayed with a half-life in steps, recency breaking ties; gated or not.
std::unique_ptr<LayerPolicy> make_decay(int experts, double half_life, bool gated);

/// Evicts the largest age / 2^class, where class = floor(log2(decayed count at the last use)); ties to the lowest id.
std::unique_ptr<LayerPolicy> make_class_lru(int experts, double half_life);

/// Evicts the largest age / decayed count at the last use; ties to the lowest id.
std::unique_ptr<LayerPolicy> make_age_crf(int experts, double half_life);

}  // namespace luce::experts
