// IQ4_NL, IQ4_XS, MXFP4, NVFP4: 4-bit codes into a table of 16 values.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "tensor/bit_lanes.hpp"
#include "tensor/block_codec.hpp"
#include "tensor/codebooks.hpp"
#include "tensor/half.hpp"

namespace luce::tensor {
namespace {

using Table = std::array<int8_t, 16>;

int nearest_code(const Table& table, float wanted) {
  int best = 0;
  for (int code = 1; code < 16; ++code) {
    const auto distance = [&](int of) { return std::abs(static_cast<float>(table[static_cast<size_t>(of)]) - wanted); };
    if (distance(code) < distance(best)) best = code;
  }
  return best;
}

float level(const Table& table, int code) { return static_cast<float>(table[static_cast<size_t>(code)]); }

float squared_error(std::span<const float> values, float scale) {
  float sum = 0.0F;
  for (const float value : values) {
    const float error = value - scale * level(kIq4Levels, nearest_code(kIq4Levels, scale == 0 ? 0 : value / scale));
    sum += error * error;
  }
  return sum;
}

/// The best of a few scales about the one that puts the extreme value on the table's end.
float choose_iq4_scale(std::span<const float> values) {
  const float extreme = *std::ranges::max_element(values, {}, [](float value) { return std::abs(value); });
  float best = 0.0F;
  float best_error = squared_error(values, best);
  for (const float end : {-127.0F, -120.0F, -113.0F, -134.0F, 113.0F, 106.0F, 120.0F}) {
    const float scale = f16_to_f32(f32_to_f16(extreme / end));
    const float error = squared_error(values, scale);
    if (error >= best_error) continue;
    best = scale;
    best_error = error;
  }
  return best;
}

int iq4_xs_sub_scale(const BlockIq4Xs& block, int sub) {
  return (Lanes<4, 1>::get(block.scales_low, sub) | (Lanes<2, 1>::get(block.scales_high, sub) << 4)) - 32;
}

/// Half of 2^(exponent - 127), since the table holds doubled values.
float half_of_e8m0(uint8_t exponent) { return std::ldexp(1.0F, static_cast<int>(exponent) - 128); }

/// Half of the unsigned float with 4 bits of exponent (bias 7) and 3 of fraction; 0x7f counts as zero.
float half_of_ue4m3(uint8_t bits) {
  if (bits == 0x7f) return 0.0F;
  const int exponent = (bits >> 3) & 15;
  const int fraction = bits & 7;
  if (exponent == 0) return std::ldexp(static_cast<float>(fraction), -10);
  return std::ldexp(static_cast<float>(8 + fraction), exponent - 11);
}

/// Smallest UE4M3 whose half is at least `wanted`, or the largest there is.
uint8_t ue4m3_above(float wanted) {
  uint8_t bits = 0;
  while (bits < 0x7e && half_of_ue4m3(bits) < wanted) ++bits;
  return bits;
}

float largest_magnitude(const float* values, int count) {
  float largest = 0.0F;
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::abs(values[i]));
  return largest;
}

}  // namespace

void decode(const BlockIq4Nl& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < 32; ++i) values[i] = scale * level(kIq4Levels, Lanes<4, 16>::get(block.codes, i));
}

void encode(const float* values, BlockIq4Nl& block) {
  const float scale = choose_iq4_scale({values, 32});
  block.scale = f32_to_f16(scale);
  for (int i = 0; i < 32; ++i) {
    Lanes<4, 16>::put(block.codes, i, nearest_code(kIq4Levels, scale == 0.0F ? 0.0F : values[i] / scale));
  }
}

void decode(const BlockIq4Xs& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < kSuperBlock; ++i) {
    const float step = scale * static_cast<float>(iq4_xs_sub_scale(block, i / 32));
    values[i] = step * level(kIq4Levels, Lanes<4, 16>::get(block.codes, i));
  }
}

void encode(const float* values, BlockIq4Xs& block) {
  std::array<float, 8> steps{};
  float largest = 0.0F;
  for (size_t sub = 0; sub < steps.size(); ++sub) {
    steps[sub] = choose_iq4_scale({values + sub * 32, 32});
    largest = std::max(largest, std::abs(steps[sub]));
  }
  block.scale = f32_to_f16(largest / 31.0F);
  const float scale = f16_to_f32(block.scale);
  for (int sub = 0; sub < 8; ++sub) {
    const float wanted = scale == 0.0F ? 0.0F : steps[static_cast<size_t>(sub)] / scale;
    const int stored = std::clamp(static_cast<int>(std::lround(wanted)), -32, 31) + 32;
    Lanes<4, 1>::put(block.scales_low, sub, stored & 15);
    Lanes<2, 1>::put(block.scales_high, sub, stored >> 4);
  }
  for (int i = 0; i < kSuperBlock; ++i) {
    const float step = scale * static_cast<float>(iq4_xs_sub_scale(block, i / 32));
    Lanes<4, 16>::put(block.codes, i, nearest_code(kIq4Levels, step == 0.0F ? 0.0F : values[i] / step));
  }
}

void decode(const BlockMxfp4& block, float* values) {
  const float scale = half_of_e8m0(block.exponent);
  for (int i = 0; i < 32; ++i) values[i] = scale * level(kFp4Levels, Lanes<4, 16>::get(block.codes, i));
}

void encode(const float* values, BlockMxfp4& block) {
  const float largest = largest_magnitude(values, 32);
  // Table values reach 12 in halves, so the power of two below a quarter of the largest value keeps it in range.
  const int exponent = largest == 0.0F ? 0 : std::ilogb(largest) - 2 + 127;
  block.exponent = static_cast<uint8_t>(std::clamp(exponent, 0, 254));
  const float scale = half_of_e8m0(block.exponent);
  for (int i = 0; i < 32; ++i) Lanes<4, 16>::put(block.codes, i, nearest_code(kFp4Levels, values[i] / scale));
}

void decode(const BlockNvfp4& block, float* values) {
  for (int i = 0; i < 64; ++i) {
    values[i] = half_of_ue4m3(block.scales[i / 16]) * level(kFp4Levels, Lanes<4, 8>::get(block.codes, i));
  }
}

void encode(const float* values, BlockNvfp4& block) {
  for (int sub = 0; sub < 4; ++sub) {
    block.scales[sub] = ue4m3_above(largest_magnitude(values + sub * 16, 16) / 12.0F);
  }
  for (int i = 0; i < 64; ++i) {
    const float scale = half_of_ue4m3(block.scales[i / 16]);
    Lanes<4, 8>::put(block.codes, i, nearest_code(kFp4Levels, scale == 0.0F ? 0.0F : values[i] / scale));
  }
}

}  // namespace luce::tensor
