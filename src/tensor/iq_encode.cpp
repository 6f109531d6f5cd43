// Encoding of IQ2 and IQ3: a step from the largest magnitude, then the nearest point of the grid for each group.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "tensor/bit_lanes.hpp"
#include "tensor/block_codec.hpp"
#include "tensor/codebooks.hpp"
#include "tensor/half.hpp"
#include "tensor/iq_grid.hpp"

namespace luce::tensor {
namespace {

constexpr int kEights = kSuperBlock / 8;

/// How a format of this family measures: step of a group = scale * (offset + code) * factor, code 0 to 15.
struct Measure {
  float offset;
  float factor;
  float top_level;
};

constexpr Measure kIq2Measure = {0.5F, 0.25F, 43.0F};
constexpr Measure kIq3XxsMeasure = {0.5F, 0.5F, 62.0F};
constexpr Measure kIq3SMeasure = {0.5F, 2.0F, 15.0F};

struct Steps {
  uint16_t scale = 0;
  std::array<int, 16> codes{};
  std::array<float, 16> steps{};
};

/// A scale for the block and a step for each group of `weights`, so that a group's largest magnitude is the top level.
Steps choose_steps(const float* values, int weights, const Measure& measure) {
  Steps result;
  float largest = 0.0F;
  for (int i = 0; i < kSuperBlock; ++i) {
    float& step = result.steps[static_cast<size_t>(i / weights)];
    step = std::max(step, std::abs(values[i]) / measure.top_level);
    largest = std::max(largest, step);
  }
  result.scale = f32_to_f16(largest / ((measure.offset + 15.0F) * measure.factor));
  const float unit = f16_to_f32(result.scale) * measure.factor;
  for (size_t group = 0; group < static_cast<size_t>(kSuperBlock / weights); ++group) {
    const float wanted = unit == 0.0F ? 0.0F : result.steps[group] / unit - measure.offset;
    result.codes[group] = std::clamp(static_cast<int>(std::lround(wanted)), 0, 15);
    result.steps[group] = unit * (measure.offset + static_cast<float>(result.codes[group]));
  }
  return result;
}

/// Index of the point whose magnitudes are nearest to those of the weights at `values`.
int nearest_point(const Grid& grid, const float* values, float step) {
  float best_error = std::numeric_limits<float>::infinity();
  int best = 0;
  for (size_t index = 0; index < grid.points.size(); ++index) {
    float error = 0.0F;
    for (int i = 0; i < grid.weights() && error < best_error; ++i) {
      const float distance = std::abs(values[i]) - step * grid.level(index, i);
      error += distance * distance;
    }
    if (error >= best_error) continue;
    best_error = error;
    best = static_cast<int>(index);
  }
  return best;
}

uint8_t signs_of(const float* values) {
  int signs = 0;
  for (int i = 0; i < 8; ++i) signs |= (values[i] < 0.0F ? 1 : 0) << i;
  return static_cast<uint8_t>(signs);
}

/// Seven bits of signs; where the eighth would come out wrong, the smallest weight of the eight changes its sign.
uint32_t sign_index(const float* values) {
  uint8_t signs = signs_of(values);
  if (std::popcount(signs) % 2 != 0) {
    const auto smallest =
        std::min_element(values, values + 8, [](float a, float b) { return std::abs(a) < std::abs(b); });
    signs = static_cast<uint8_t>(signs ^ (1 << (smallest - values)));
  }
  return signs & 127U;
}

void store_u32(uint8_t* bytes, uint32_t value) { std::memcpy(bytes, &value, sizeof(value)); }

/// Sign indices of 32 weights below the step's code.
uint32_t signs_and_code(const float* values, int code) {
  uint32_t packed = static_cast<uint32_t>(code) << 28;
  for (int i = 0; i < 4; ++i) packed |= sign_index(values + i * 8) << (7 * i);
  return packed;
}

}  // namespace

void encode(const float* values, BlockIq2Xxs& block) {
  const Steps steps = choose_steps(values, 32, kIq2Measure);
  block.scale = steps.scale;
  for (int i = 0; i < kEights; ++i) {
    const auto group = static_cast<size_t>(i / 4);
    const int point = nearest_point(kIq2Xxs, values + i * 8, steps.steps[group]);
    block.groups[group * 8 + static_cast<size_t>(i % 4)] = static_cast<uint8_t>(point);
    if (i % 4 == 0) store_u32(block.groups + group * 8 + 4, signs_and_code(values + i * 8, steps.codes[group]));
  }
}

void encode(const float* values, BlockIq2Xs& block) {
  const Steps steps = choose_steps(values, 16, kIq2Measure);
  block.scale = steps.scale;
  for (int i = 0; i < kEights; ++i) {
    const auto group = static_cast<size_t>(i / 2);
    const int point = nearest_point(kIq2Xs, values + i * 8, steps.steps[group]);
    block.points[i] = static_cast<uint16_t>(static_cast<uint32_t>(point) | sign_index(values + i * 8) << 9);
    if (i % 2 == 0) Lanes<4, 1>::put(block.scales, i / 2, steps.codes[group]);
  }
}

void encode(const float* values, BlockIq2S& block) {
  const Steps steps = choose_steps(values, 16, kIq2Measure);
  block.scale = steps.scale;
  for (int i = 0; i < kEights; ++i) {
    const auto group = static_cast<size_t>(i / 2);
    const int point = nearest_point(kIq2S, values + i * 8, steps.steps[group]);
    block.points[i] = static_cast<uint8_t>(point & 255);
    Lanes<2, 1>::put(block.high, i, point >> 8);
    block.signs[i] = signs_of(values + i * 8);
    if (i % 2 == 0) Lanes<4, 1>::put(block.scales, i / 2, steps.codes[group]);
  }
}

void encode(const float* values, BlockIq3Xxs& block) {
  const Steps steps = choose_steps(values, 32, kIq3XxsMeasure);
  block.scale = steps.scale;
  for (int i = 0; i < 2 * kEights; ++i) {
    const auto group = static_cast<size_t>(i / 8);
    const int point = nearest_point(kIq3Xxs, values + i * 4, steps.steps[group]);
    block.points[i] = static_cast<uint8_t>(point);
    if (i % 8 == 0) store_u32(block.groups + group * 4, signs_and_code(values + i * 4, steps.codes[group]));
  }
}

void encode(const float* values, BlockIq3S& block) {
  const Steps steps = choose_steps(values, 32, kIq3SMeasure);
  block.scale = steps.scale;
  for (int i = 0; i < 2 * kEights; ++i) {
    const auto group = static_cast<size_t>(i / 8);
    const int point = nearest_point(kIq3S, values + i * 4, steps.steps[group]);
    block.points[i] = static_cast<uint8_t>(point & 255);
    Lanes<1, 1>::put(block.high, i, point >> 8);
    if (i % 2 == 0) block.signs[i / 2] = signs_of(values + i * 4);
    if (i % 8 == 0) Lanes<4, 1>::put(block.scales, i / 8, steps.codes[group]);
  }
}

}  // namespace luce::tensor
