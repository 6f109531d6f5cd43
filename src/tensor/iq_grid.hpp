#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace luce::tensor {

/// Signs of eight weights from their first seven: the eighth makes the number of negative ones even.
inline uint8_t signs_from_index(uint32_t index) {
  const auto low = static_cast<uint8_t>(index & 127U);
  return static_cast<uint8_t>(low | ((std::popcount(low) & 1) << 7));
}

/// Writes step * level of each weight of a grid point, negative where its bit in `signs` is set.
/// `bits` is the width of a code: 2 for points of eight weights, 4 for points of four.
inline void place_point(uint32_t point, int bits, std::span<const uint8_t> levels, float step, uint32_t signs,
                        float* values) {
  const int weights = 16 / bits;
  for (int i = 0; i < weights; ++i) {
    const uint32_t code = (point >> (i * bits)) & ((1U << bits) - 1U);
    const float magnitude = step * static_cast<float>(levels[code]);
    values[i] = (signs >> i & 1U) != 0 ? -magnitude : magnitude;
  }
}

}  // namespace luce::tensor
