#include "tensor/half.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace luce::tensor {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

double exact_half(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int fraction = half & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

bool is_nan_half(uint16_t half) { return (half & 0x7fff) > 0x7c00; }

/// Distance of `value` to the half's value is not above that to both neighbours, and a tie has an even half.
void expect_nearest(float value, uint16_t half) {
  const double distance = std::abs(exact_half(half) - value);
  for (const int step : {-1, 1}) {
    const int other = (half & 0x7fff) + step;
    if (other < 0 || other >= 0x7c00) continue;
    const auto neighbour = static_cast<uint16_t>((half & 0x8000) | other);
    const double other_distance = std::abs(exact_half(neighbour) - value);
    EXPECT_LE(distance, other_distance) << value << " became " << half;
    EXPECT_TRUE(distance != other_distance || (half & 1) == 0) << value;
  }
}

TEST(Half, EveryHalfWidensExactlyAndComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float wide = f16_to_f32(half);
    if (is_nan_half(half)) {
      EXPECT_TRUE(std::isnan(wide));
      EXPECT_TRUE(is_nan_half(f32_to_f16(wide)));
      EXPECT_EQ(f32_to_f16(wide), half | 0x0200);
      continue;
    }
    if ((half & 0x7fff) != 0x7c00) {
      EXPECT_EQ(static_cast<double>(wide), exact_half(half));
    }
    EXPECT_EQ(std::signbit(wide), half >= 0x8000);
    EXPECT_EQ(f32_to_f16(wide), half);
  }
}

TEST(Half, NarrowingRoundsToNearestEven) {
  std::mt19937 random(1);
  for (int i = 0; i < 300000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isnan(value) || std::abs(value) >= 65504.0F) continue;
    expect_nearest(value, f32_to_f16(value));
  }
  // Halfway between neighbours, where the rule on ties counts.
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const auto middle = static_cast<float>((exact_half(half) + exact_half(static_cast<uint16_t>(half + 1))) / 2);
    expect_nearest(middle, f32_to_f16(middle));
    expect_nearest(-std::nextafter(middle, kInfinity), f32_to_f16(-std::nextafter(middle, kInfinity)));
  }
}

TEST(Half, EdgesOfTheRange) {
  EXPECT_EQ(f32_to_f16(65519.99F), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0F), 0x7c00);
  EXPECT_EQ(f32_to_f16(-1e30F), 0xfc00);
  EXPECT_EQ(f32_to_f16(kInfinity), 0x7c00);
  EXPECT_EQ(f32_to_f16(0x1p-25F), 0);
  EXPECT_EQ(f32_to_f16(std::nextafter(0x1p-25F, 1.0F)), 1);
  EXPECT_EQ(f32_to_f16(-0.0F), 0x8000);
  EXPECT_TRUE(is_nan_half(f32_to_f16(std::bit_cast<float>(0x7f800001U))));
}

TEST(BFloat, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f808000U)), 0x3f80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f818000U)), 0x3f82);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f808001U)), 0x3f81);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::bit_cast<float>(0x7f800001U)))));
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto brain = static_cast<uint16_t>(bits);
    if (!std::isnan(bf16_to_f32(brain))) {
      EXPECT_EQ(f32_to_bf16(bf16_to_f32(brain)), brain);
    }
  }
}

}  // namespace
}  // namespace luce::tensor
