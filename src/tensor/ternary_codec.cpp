// TQ1_0 and TQ2_0: weights of -1, 0 or 1 times one scale.
#include <algorithm>
#include <array>
#include <cmath>

#include "tensor/bit_lanes.hpp"
#include "tensor/block_codec.hpp"
#include "tensor/half.hpp"

namespace luce::tensor {
namespace {

constexpr std::array<int, 5> kPowersOf3 = {1, 3, 9, 27, 81};

/// Where weight `index` lies in a TQ1_0 block: its byte in fives and fours together, and its digit, highest first.
struct Digit {
  int byte;
  int place;
};

Digit digit_of(int index) {
  if (index < 160) return {index % 32, index / 32};
  if (index < 240) return {32 + (index - 160) % 16, (index - 160) / 16};
  return {48 + (index - 240) % 4, (index - 240) / 4};
}

/// Digit (0 to 2) of weight `value`.
int ternary(float value, float scale) {
  return scale == 0.0F ? 1 : std::clamp(static_cast<int>(std::lround(value / scale)), -1, 1) + 1;
}

float largest_magnitude(const float* values) {
  float largest = 0.0F;
  for (int i = 0; i < kSuperBlock; ++i) largest = std::max(largest, std::abs(values[i]));
  return largest;
}

uint8_t& byte_at(BlockTq1_0& block, int byte) { return byte < 48 ? block.fives[byte] : block.fours[byte - 48]; }
uint8_t byte_at(const BlockTq1_0& block, int byte) { return byte < 48 ? block.fives[byte] : block.fours[byte - 48]; }

}  // namespace

void decode(const BlockTq1_0& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < kSuperBlock; ++i) {
    const Digit digit = digit_of(i);
    // The byte is the digits as a fraction: multiplying brings the wanted digit above the point.
    const int fraction = (byte_at(block, digit.byte) * kPowersOf3[static_cast<size_t>(digit.place)]) & 255;
    values[i] = scale * static_cast<float>((fraction * 3 >> 8) - 1);
  }
}

void encode(const float* values, BlockTq1_0& block) {
  block.scale = f32_to_f16(largest_magnitude(values));
  const float scale = f16_to_f32(block.scale);
  std::array<int, 52> numbers{};
  for (int i = 0; i < kSuperBlock; ++i) {
    const Digit digit = digit_of(i);
    numbers[static_cast<size_t>(digit.byte)] +=
        ternary(values[i], scale) * kPowersOf3[static_cast<size_t>(4 - digit.place)];
  }
  for (int byte = 0; byte < 52; ++byte) {
    byte_at(block, byte) = static_cast<uint8_t>((numbers[static_cast<size_t>(byte)] * 256 + 242) / 243);
  }
}

void decode(const BlockTq2_0& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < kSuperBlock; ++i) {
    values[i] = scale * static_cast<float>(Lanes<2, 32>::get(block.codes, i) - 1);
  }
}

void encode(const float* values, BlockTq2_0& block) {
  block.scale = f32_to_f16(largest_magnitude(values));
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < kSuperBlock; ++i) Lanes<2, 32>::put(block.codes, i, ternary(values[i], scale));
}

}  // namespace luce::tensor
