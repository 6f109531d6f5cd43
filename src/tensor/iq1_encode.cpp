// Encoding of IQ1_S and IQ1_M: weights of -1, 0 or 1, moved a little, times a step.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tensor/bit_lanes.hpp"
#include "tensor/block_codec.hpp"
#include "tensor/codebooks.hpp"
#include "tensor/half.hpp"

namespace luce::tensor {
namespace {

constexpr int kEights = kSuperBlock / 8;
constexpr int kMostCode = 7;

struct Steps {
  uint16_t scale = 0;
  std::array<int, 16> codes{};
  std::array<float, 16> steps{};
};

/// Step = scale * (2 code + 1). For a bell curve, -1, 0, 1 times 1.2 root mean squares is near the best.
Steps choose_steps(const float* values, int weights) {
  Steps result;
  const auto groups = static_cast<size_t>(kSuperBlock / weights);
  for (int i = 0; i < kSuperBlock; ++i) result.steps[static_cast<size_t>(i / weights)] += values[i] * values[i];
  float largest = 0.0F;
  for (size_t group = 0; group < groups; ++group) {
    result.steps[group] = 1.2F * std::sqrt(result.steps[group] / static_cast<float>(weights));
    largest = std::max(largest, result.steps[group]);
  }
  result.scale = f32_to_f16(largest / (2 * kMostCode + 1));
  const float scale = f16_to_f32(result.scale);
  for (size_t group = 0; group < groups; ++group) {
    const float wanted = scale == 0.0F ? 0.0F : (result.steps[group] / scale - 1.0F) / 2.0F;
    result.codes[group] = std::clamp(static_cast<int>(std::lround(wanted)), 0, kMostCode);
    result.steps[group] = scale * static_cast<float>(2 * result.codes[group] + 1);
  }
  return result;
}

struct Choice {
  uint32_t index = 0;
  float error = std::numeric_limits<float>::infinity();
};

Choice nearest_point(const float* values, float step, float delta) {
  Choice best;
  for (uint32_t index = 0; index < kIq1Grid.size(); ++index) {
    float error = 0.0F;
    for (int i = 0; i < 8 && error < best.error; ++i) {
      const auto digit = static_cast<float>(static_cast<int>(kIq1Grid[index] >> (2 * i) & 3) - 1);
      const float distance = values[i] - step * (digit + delta);
      error += distance * distance;
    }
    if (error < best.error) best = {index, error};
  }
  return best;
}

}  // namespace

void encode(const float* values, BlockIq1S& block) {
  const Steps steps = choose_steps(values, 32);
  block.scale = steps.scale;
  for (int group = 0; group < kEights / 4; ++group) {
    const float step = steps.steps[static_cast<size_t>(group)];
    std::array<Choice, 4> up;
    std::array<Choice, 4> down;
    float gain = 0.0F;
    for (size_t i = 0; i < 4; ++i) {
      up[i] = nearest_point(values + group * 32 + static_cast<int>(i) * 8, step, kIq1Delta);
      down[i] = nearest_point(values + group * 32 + static_cast<int>(i) * 8, step, -kIq1Delta);
      gain += up[i].error - down[i].error;
    }
    const std::array<Choice, 4>& chosen = gain > 0.0F ? down : up;
    uint32_t packed =
        static_cast<uint32_t>(steps.codes[static_cast<size_t>(group)]) << 12 | (gain > 0.0F ? 0x8000U : 0);
    for (size_t i = 0; i < 4; ++i) {
      block.points[static_cast<size_t>(group) * 4 + i] = static_cast<uint8_t>(chosen[i].index & 255U);
      packed |= chosen[i].index >> 8 << (3 * i);
    }
    block.groups[group] = static_cast<uint16_t>(packed);
  }
}

void encode(const float* values, BlockIq1M& block) {
  const Steps steps = choose_steps(values, 16);
  for (int i = 0; i < kEights; ++i) {
    const float step = steps.steps[static_cast<size_t>(i / 2)];
    const Choice up = nearest_point(values + i * 8, step, kIq1Delta);
    const Choice down = nearest_point(values + i * 8, step, -kIq1Delta);
    const bool go_down = down.error < up.error;
    const uint32_t index = go_down ? down.index : up.index;
    block.points[i] = static_cast<uint8_t>(index & 255U);
    Lanes<4, 1>::put(block.high, i, static_cast<int>(index >> 8) | (go_down ? 8 : 0));
  }
  for (int part = 0; part < 4; ++part) {
    int packed = (steps.scale >> (4 * part) & 15) << 12;
    for (int sub = 0; sub < 4; ++sub) packed |= steps.codes[static_cast<size_t>(part * 4 + sub)] << (3 * sub);
    block.scales[part] = static_cast<uint16_t>(packed);
  }
}

}  // namespace luce::tensor
