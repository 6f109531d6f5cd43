#pragma once

#include <cstdint>
#include <vector>

#include "plan/model_shape.hpp"

namespace luce::plan {

/// What all expert slots together may take.
struct SlotLimits {
  int64_t bytes = 0;
  int64_t slots = 0;
};

/// Slots per layer of the model: one in every layer that has experts (whatever the limits say), then always one more
/// for the layer with the smallest share resident whose next slot still fits. Layers with equal experts differ by at
/// most one slot of their size class, and what is left is less than the smallest slot that could be added.
std::vector<int> split_slots(const std::vector<LayerShape>& layers, const SlotLimits& limits);

}  // namespace luce::plan
