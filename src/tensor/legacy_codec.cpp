// Q4_0, Q4_1, Q5_0, Q5_1, Q8_0: blocks of 32 weights with one scale.
#include <algorithm>
#include <cmath>

#include "tensor/bit_lanes.hpp"
#include "tensor/block_codec.hpp"
#include "tensor/half.hpp"

namespace luce::tensor {
namespace {

constexpr int kWeights = 32;
using LowBits = Lanes<4, 16>;
using FifthBit = Lanes<1, 1>;

/// The value of largest magnitude, with its sign.
float extreme(const float* values) {
  return *std::max_element(values, values + kWeights, [](float a, float b) { return std::abs(a) < std::abs(b); });
}

int code_of(float value, float inverse_scale, int offset, int most) {
  return std::clamp(static_cast<int>(std::floor(value * inverse_scale + static_cast<float>(offset) + 0.5F)), 0, most);
}

float inverse(float scale) { return scale == 0.0F ? 0.0F : 1.0F / scale; }

template <typename Block>
void put_code(Block& block, int index, int code) {
  LowBits::put(block.codes, index, code & 15);
  if constexpr (requires { block.high; }) FifthBit::put(block.high, index, code >> 4);
}

template <typename Block>
int get_code(const Block& block, int index) {
  int code = LowBits::get(block.codes, index);
  if constexpr (requires { block.high; }) code |= FifthBit::get(block.high, index) << 4;
  return code;
}

template <typename Block>
void decode_centred(const Block& block, int centre, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < kWeights; ++i) values[i] = scale * static_cast<float>(get_code(block, i) - centre);
}

template <typename Block>
void encode_centred(const float* values, int centre, Block& block) {
  // The extreme value gets code 0, the one side that reaches further.
  block.scale = f32_to_f16(-extreme(values) / static_cast<float>(centre));
  const float inverse_scale = inverse(f16_to_f32(block.scale));
  for (int i = 0; i < kWeights; ++i) put_code(block, i, code_of(values[i], inverse_scale, centre, 2 * centre - 1));
}

template <typename Block>
void decode_ranged(const Block& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  const float low = f16_to_f32(block.low);
  for (int i = 0; i < kWeights; ++i) values[i] = scale * static_cast<float>(get_code(block, i)) + low;
}

template <typename Block>
void encode_ranged(const float* values, int most, Block& block) {
  const auto [low, high] = std::minmax_element(values, values + kWeights);
  block.scale = f32_to_f16((*high - *low) / static_cast<float>(most));
  block.low = f32_to_f16(*low);
  const float inverse_scale = inverse(f16_to_f32(block.scale));
  const float stored_low = f16_to_f32(block.low);
  for (int i = 0; i < kWeights; ++i) put_code(block, i, code_of(values[i] - stored_low, inverse_scale, 0, most));
}

}  // namespace

void decode(const BlockQ4_0& block, float* values) { decode_centred(block, 8, values); }
void encode(const float* values, BlockQ4_0& block) { encode_centred(values, 8, block); }
void decode(const BlockQ5_0& block, float* values) { decode_centred(block, 16, values); }
void encode(const float* values, BlockQ5_0& block) { encode_centred(values, 16, block); }
void decode(const BlockQ4_1& block, float* values) { decode_ranged(block, values); }
void encode(const float* values, BlockQ4_1& block) { encode_ranged(values, 15, block); }
void decode(const BlockQ5_1& block, float* values) { decode_ranged(block, values); }
void encode(const float* values, BlockQ5_1& block) { encode_ranged(values, 31, block); }

void decode(const BlockQ8_0& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < kWeights; ++i) values[i] = scale * static_cast<float>(block.codes[i]);
}

void encode(const float* values, BlockQ8_0& block) {
  block.scale = f32_to_f16(std::abs(extreme(values)) / 127.0F);
  const float inverse_scale = inverse(f16_to_f32(block.scale));
  for (int i = 0; i < kWeights; ++i) {
    block.codes[i] = static_cast<int8_t>(std::clamp(std::round(values[i] * inverse_scale), -127.0F, 127.0F));
  }
}

}  // namespace luce::tensor
