// Encoding of Q2_K to Q6_K: each sub-block gets its range, then the ranges are quantised, then the codes.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "tensor/bit_lanes.hpp"
#include "tensor/block_codec.hpp"
#include "tensor/half.hpp"
#include "tensor/k_scales.hpp"

namespace luce::tensor {
namespace {

constexpr int kMostSubBlocks = 16;

/// Integers and the f16 factor that they stand for multiples of.
struct Multiples {
  uint16_t factor = 0;
  std::array<int, kMostSubBlocks> of{};
};

/// Writes `wanted` (none below zero) as multiples 0 to `most` of one factor.
Multiples as_multiples(std::span<const float> wanted, int most) {
  Multiples result;
  result.factor = f32_to_f16(*std::ranges::max_element(wanted) / static_cast<float>(most));
  const float factor = f16_to_f32(result.factor);
  for (size_t i = 0; i < wanted.size(); ++i) {
    result.of[i] = factor == 0.0F ? 0 : std::clamp(static_cast<int>(std::lround(wanted[i] / factor)), 0, most);
  }
  return result;
}

struct Ranges {
  Multiples steps;
  Multiples bases;  // how far below zero a sub-block begins
};

/// Ranges of sub-blocks of `weights` each for codes 0 to `most_code`; a range always holds zero.
Ranges choose_ranges(const float* values, int weights, int most_code, int most_multiple) {
  const int count = kSuperBlock / weights;
  std::array<float, kMostSubBlocks> steps{};
  std::array<float, kMostSubBlocks> bases{};
  for (int sub = 0; sub < count; ++sub) {
    const auto [low, high] = std::minmax_element(values + sub * weights, values + (sub + 1) * weights);
    const auto index = static_cast<size_t>(sub);
    bases[index] = std::max(0.0F, -*low);
    steps[index] = (std::max(0.0F, *high) + bases[index]) / static_cast<float>(most_code);
  }
  const auto used = static_cast<size_t>(count);
  return {as_multiples(std::span(steps).first(used), most_multiple),
          as_multiples(std::span(bases).first(used), most_multiple)};
}

int ranged_code(const Ranges& ranges, size_t sub, float value, int most_code) {
  const float step = f16_to_f32(ranges.steps.factor) * static_cast<float>(ranges.steps.of[sub]);
  const float base = f16_to_f32(ranges.bases.factor) * static_cast<float>(ranges.bases.of[sub]);
  if (step == 0.0F) return 0;
  return std::clamp(static_cast<int>(std::lround((value + base) / step)), 0, most_code);
}

/// Steps of sub-blocks of 16 for codes around zero, the largest magnitude at code `reach`.
Multiples choose_steps(const float* values, int reach, int most_multiple) {
  std::array<float, kMostSubBlocks> steps{};
  for (int i = 0; i < kSuperBlock; ++i) {
    float& step = steps[static_cast<size_t>(i / 16)];
    step = std::max(step, std::abs(values[i]) / static_cast<float>(reach));
  }
  return as_multiples(steps, most_multiple);
}

int centred_code(const Multiples& steps, size_t sub, float value, int centre) {
  const float step = f16_to_f32(steps.factor) * static_cast<float>(steps.of[sub]);
  if (step == 0.0F) return centre;
  return std::clamp(static_cast<int>(std::lround(value / step)) + centre, 0, 2 * centre - 1);
}

template <typename Block>
void encode_q4_or_q5(const float* values, int most_code, Block& block) {
  const Ranges ranges = choose_ranges(values, 32, most_code, 63);
  block.scale = ranges.steps.factor;
  block.low = ranges.bases.factor;
  for (int sub = 0; sub < 8; ++sub) {
    const auto index = static_cast<size_t>(sub);
    put_scale_and_min(block.scales, sub, {ranges.steps.of[index], ranges.bases.of[index]});
  }
  for (int i = 0; i < kSuperBlock; ++i) {
    const int code = ranged_code(ranges, static_cast<size_t>(i / 32), values[i], most_code);
    Lanes<4, 32>::put(block.codes, i, code & 15);
    if constexpr (requires { block.high; }) Lanes<1, 32>::put(block.high, i, code >> 4);
  }
}

}  // namespace

void encode(const float* values, BlockQ2K& block) {
  const Ranges ranges = choose_ranges(values, 16, 3, 15);
  block.scale = ranges.steps.factor;
  block.low = ranges.bases.factor;
  for (size_t sub = 0; sub < 16; ++sub) {
    block.scales[sub] = static_cast<uint8_t>(ranges.steps.of[sub] | (ranges.bases.of[sub] << 4));
  }
  for (int i = 0; i < kSuperBlock; ++i) {
    Lanes<2, 32>::put(block.codes, i, ranged_code(ranges, static_cast<size_t>(i / 16), values[i], 3));
  }
}

void encode(const float* values, BlockQ3K& block) {
  const Multiples steps = choose_steps(values, 3, 31);
  block.scale = steps.factor;
  for (int sub = 0; sub < 16; ++sub) put_q3_scale(block.scales, sub, steps.of[static_cast<size_t>(sub)]);
  for (int i = 0; i < kSuperBlock; ++i) {
    const int code = centred_code(steps, static_cast<size_t>(i / 16), values[i], 4);
    Lanes<2, 32>::put(block.codes, i, code & 3);
    Lanes<1, 32>::put(block.high, i, code >> 2);
  }
}

void encode(const float* values, BlockQ4K& block) { encode_q4_or_q5(values, 15, block); }

void encode(const float* values, BlockQ5K& block) { encode_q4_or_q5(values, 31, block); }

void encode(const float* values, BlockQ6K& block) {
  const Multiples steps = choose_steps(values, 31, 127);
  block.scale = steps.factor;
  for (size_t sub = 0; sub < 16; ++sub) block.scales[sub] = static_cast<int8_t>(steps.of[sub]);
  for (int i = 0; i < kSuperBlock; ++i) {
    const int code = centred_code(steps, static_cast<size_t>(i / 16), values[i], 32);
    Lanes<4, 64>::put(block.codes, i, code & 15);
    Lanes<2, 32>::put(block.high, i, code >> 4);
  }
}

}  // namespace luce::tensor
