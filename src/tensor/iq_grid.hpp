#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "tensor/codebooks.hpp"

namespace luce::tensor {

/// Signs of eight weights from their first seven: the eighth makes the number of negative ones even.
inline uint8_t signs_from_index(uint32_t index) {
  const auto low = static_cast<uint8_t>(index & 127U);
  return static_cast<uint8_t>(low | ((std::popcount(low) & 1) << 7));
}

/// Points that a group of weights may take: `bits` is the width of a code, 2 for points of eight weights, 4 of four.
struct Grid {
  std::span<const uint16_t> points;
  int bits;
  std::span<const uint8_t> levels;

  int weights() const { return 16 / bits; }
  float level(size_t index, int weight) const {
    return static_cast<float>(levels[points[index] >> (weight * bits) & ((1 << bits) - 1)]);
  }
};

inline constexpr Grid kIq2Xxs = {kIq2XxsGrid, 2, kIq2Levels};
inline constexpr Grid kIq2Xs = {kIq2XsGrid, 2, kIq2Levels};
inline constexpr Grid kIq2S = {kIq2SGrid, 2, kIq2Levels};
inline constexpr Grid kIq3Xxs = {kIq3XxsGrid, 4, kIq3XxsLevels};
inline constexpr Grid kIq3S = {kIq3SGrid, 4, kIq3SLevels};

/// How levels become weights: times `step`, negative where the weight's bit in `signs` is set.
struct SignedStep {
  float step;
  uint32_t signs;
};

inline void place_point(const Grid& grid, size_t index, SignedStep scale, float* values) {
  for (int i = 0; i < grid.weights(); ++i) {
    const float magnitude = scale.step * grid.level(index, i);
    values[i] = (scale.signs >> i & 1U) != 0 ? -magnitude : magnitude;
  }
}

}  // namespace luce::tensor
