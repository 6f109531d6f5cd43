// Decoding of Q2_K to Q6_K: 256 weights, scales of 16 or 32 weights each quantised again.
#include "tensor/bit_lanes.hpp"
#include "tensor/block_codec.hpp"
#include "tensor/half.hpp"
#include "tensor/k_scales.hpp"

namespace luce::tensor {

void decode(const BlockQ2K& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  const float low = f16_to_f32(block.low);
  for (int i = 0; i < kSuperBlock; ++i) {
    const uint8_t packed = block.scales[i / 16];
    const float step = scale * static_cast<float>(packed & 15);
    const float base = low * static_cast<float>(packed >> 4);
    values[i] = step * static_cast<float>(Lanes<2, 32>::get(block.codes, i)) - base;
  }
}

void decode(const BlockQ3K& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < kSuperBlock; ++i) {
    const float step = scale * static_cast<float>(get_q3_scale(block.scales, i / 16));
    const int code = Lanes<2, 32>::get(block.codes, i) | (Lanes<1, 32>::get(block.high, i) << 2);
    values[i] = step * static_cast<float>(code - 4);
  }
}

void decode(const BlockQ4K& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  const float low = f16_to_f32(block.low);
  for (int i = 0; i < kSuperBlock; ++i) {
    const auto [sub_scale, sub_min] = get_scale_and_min(block.scales, i / 32);
    const float step = scale * static_cast<float>(sub_scale);
    const float base = low * static_cast<float>(sub_min);
    values[i] = step * static_cast<float>(Lanes<4, 32>::get(block.codes, i)) - base;
  }
}

void decode(const BlockQ5K& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  const float low = f16_to_f32(block.low);
  for (int i = 0; i < kSuperBlock; ++i) {
    const auto [sub_scale, sub_min] = get_scale_and_min(block.scales, i / 32);
    const float step = scale * static_cast<float>(sub_scale);
    const float base = low * static_cast<float>(sub_min);
    const int code = Lanes<4, 32>::get(block.codes, i) | (Lanes<1, 32>::get(block.high, i) << 4);
    values[i] = step * static_cast<float>(code) - base;
  }
}

void decode(const BlockQ6K& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < kSuperBlock; ++i) {
    const float step = scale * static_cast<float>(block.scales[i / 16]);
    const int code = Lanes<4, 64>::get(block.codes, i) | (Lanes<2, 32>::get(block.high, i) << 4);
    values[i] = step * static_cast<float>(code - 32);
  }
}

}  // namespace luce::tensor
