// Decoding of IQ1, IQ2 and IQ3: groups of weights are points of a grid.
#include <cstring>

#include "tensor/bit_lanes.hpp"
#include "tensor/block_codec.hpp"
#include "tensor/codebooks.hpp"
#include "tensor/half.hpp"
#include "tensor/iq_grid.hpp"

namespace luce::tensor {
namespace {

constexpr int kEights = kSuperBlock / 8;
constexpr int kThirtyTwos = kSuperBlock / 32;

uint32_t load_u32(const uint8_t* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

float half_step(float scale, uint32_t code) { return scale * (0.5F + static_cast<float>(code)); }

void place_iq1_point(uint32_t index, float step, float delta, float* values) {
  const uint32_t point = kIq1Grid[index];
  for (int i = 0; i < 8; ++i) {
    values[i] = step * (static_cast<float>(static_cast<int>(point >> (2 * i) & 3U) - 1) + delta);
  }
}

}  // namespace

void decode(const BlockIq2Xxs& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int group = 0; group < kThirtyTwos; ++group) {
    const uint8_t* points = block.groups + group * 8;
    const uint32_t extra = load_u32(points + 4);
    const float step = half_step(scale, extra >> 28) * 0.25F;
    for (int i = 0; i < 4; ++i) {
      place_point(kIq2Xxs, points[i], {step, signs_from_index(extra >> (7 * i))}, values + group * 32 + i * 8);
    }
  }
}

void decode(const BlockIq2Xs& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < kEights; ++i) {
    const auto code = static_cast<uint32_t>(Lanes<4, 1>::get(block.scales, i / 2));
    const uint32_t packed = block.points[i];
    place_point(kIq2Xs, packed & 511U, {half_step(scale, code) * 0.25F, signs_from_index(packed >> 9)}, values + i * 8);
  }
}

void decode(const BlockIq2S& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < kEights; ++i) {
    const auto code = static_cast<uint32_t>(Lanes<4, 1>::get(block.scales, i / 2));
    const auto index = static_cast<size_t>(block.points[i] | (Lanes<2, 1>::get(block.high, i) << 8));
    place_point(kIq2S, index, {half_step(scale, code) * 0.25F, block.signs[i]}, values + i * 8);
  }
}

void decode(const BlockIq3Xxs& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < kEights; ++i) {
    const uint32_t extra = load_u32(block.groups + i / 4 * 4);
    const float step = half_step(scale, extra >> 28) * 0.5F;
    const uint32_t signs = signs_from_index(extra >> (i % 4 * 7));
    place_point(kIq3Xxs, block.points[2 * i], {step, signs}, values + i * 8);
    place_point(kIq3Xxs, block.points[2 * i + 1], {step, signs >> 4}, values + i * 8 + 4);
  }
}

void decode(const BlockIq3S& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < 2 * kEights; ++i) {
    const float step = scale * static_cast<float>(1 + 2 * Lanes<4, 1>::get(block.scales, i / 8));
    const auto index = static_cast<size_t>(block.points[i] | (Lanes<1, 1>::get(block.high, i) << 8));
    const auto signs = static_cast<uint32_t>(block.signs[i / 2] >> (i % 2 * 4));
    place_point(kIq3S, index, {step, signs}, values + i * 4);
  }
}

void decode(const BlockIq1S& block, float* values) {
  const float scale = f16_to_f32(block.scale);
  for (int i = 0; i < kEights; ++i) {
    const uint32_t group = block.groups[i / 4];
    const float step = scale * static_cast<float>(2 * (group >> 12 & 7U) + 1);
    const float delta = (group & 0x8000U) != 0 ? -kIq1Delta : kIq1Delta;
    const uint32_t index = block.points[i] | ((group >> (i % 4 * 3) & 7U) << 8);
    place_iq1_point(index, step, delta, values + i * 8);
  }
}

void decode(const BlockIq1M& block, float* values) {
  uint32_t scale_bits = 0;
  for (int part = 0; part < 4; ++part) scale_bits |= static_cast<uint32_t>(block.scales[part] >> 12) << (4 * part);
  const float scale = f16_to_f32(static_cast<uint16_t>(scale_bits));
  for (int i = 0; i < kEights; ++i) {
    const int sub = i / 2;
    const float step = scale * static_cast<float>(2 * (block.scales[sub / 4] >> (sub % 4 * 3) & 7) + 1);
    const auto high = static_cast<uint32_t>(Lanes<4, 1>::get(block.high, i));
    const float delta = (high & 8U) != 0 ? -kIq1Delta : kIq1Delta;
    place_iq1_point(block.points[i] | ((high & 7U) << 8), step, delta, values + i * 8);
  }
}

}  // namespace luce::tensor
