#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tensor/reference.hpp"

namespace luce::tensor {
namespace {

struct Bound {
  Format format;
  double relative_error;  // root of NMSE on a bell curve
};

// A little above what was measured for these encoders; a lane or scale put in the wrong place gives 0.5 and more.
const std::vector<Bound> kBounds = {
    {Format::f32, 0.0},     {Format::f64, 0.0},     {Format::f16, 0.00023},  {Format::bf16, 0.0018},
    {Format::q8_0, 0.0056}, {Format::q4_0, 0.09},   {Format::q4_1, 0.083},   {Format::q5_0, 0.045},
    {Format::q5_1, 0.04},   {Format::q2_k, 0.35},   {Format::q3_k, 0.21},    {Format::q4_k, 0.083},
    {Format::q5_k, 0.04},   {Format::q6_k, 0.0205}, {Format::iq4_nl, 0.08},  {Format::iq4_xs, 0.08},
    {Format::mxfp4, 0.127}, {Format::nvfp4, 0.122}, {Format::iq3_s, 0.145},  {Format::iq3_xxs, 0.21},
    {Format::iq2_s, 0.28},  {Format::iq2_xs, 0.33}, {Format::iq2_xxs, 0.38}, {Format::iq1_s, 0.48},
    {Format::iq1_m, 0.46},  {Format::tq1_0, 0.83},  {Format::tq2_0, 0.83},
};

std::vector<float> bell_curve(size_t count, float sigma, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, sigma);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<std::byte> packed(Format format, const std::vector<float>& values) {
  std::vector<std::byte> blocks(static_cast<size_t>(packed_bytes(format, static_cast<int64_t>(values.size()))));
  quantise(format, values, blocks);
  return blocks;
}

std::vector<float> round_trip(Format format, const std::vector<float>& values) {
  std::vector<float> result(values.size());
  dequantise(format, packed(format, values), result);
  return result;
}

double relative_error(const std::vector<float>& got, const std::vector<float>& expected) {
  double error = 0.0;
  double power = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    error += std::pow(static_cast<double>(got[i]) - static_cast<double>(expected[i]), 2);
    power += std::pow(static_cast<double>(expected[i]), 2);
  }
  return std::sqrt(error / power);
}

class QuantiseEach : public testing::TestWithParam<Bound> {};

TEST_P(QuantiseEach, RoundTripStaysWithinItsBound) {
  for (const float sigma : {1.0F, 0.02F, 30.0F}) {
    const std::vector<float> values = bell_curve(4096, sigma, 7);
    EXPECT_LE(relative_error(round_trip(GetParam().format, values), values), GetParam().relative_error)
        << info(GetParam().format).name << " sigma " << sigma;
  }
}

TEST_P(QuantiseEach, ZerosStayZeroOrTiny) {
  const std::vector<float> zeros(512, 0.0F);
  for (const float value : round_trip(GetParam().format, zeros)) EXPECT_LE(std::abs(value), 1e-37F);
}

TEST_P(QuantiseEach, ExtremeBlocksStayFinite) {
  std::vector<float> values = bell_curve(512, 1e-30F, 3);
  for (size_t i = 256; i < 512; ++i) values[i] = i % 3 == 0 ? 30000.0F : -0.5F;
  for (const float value : round_trip(GetParam().format, values)) EXPECT_TRUE(std::isfinite(value));
}

TEST_P(QuantiseEach, DotAgreesWithTheDequantisedSum) {
  const std::vector<float> weights = bell_curve(1024, 0.5F, 11);
  const std::vector<float> x = bell_curve(1024, 1.0F, 12);
  const std::vector<float> stored = round_trip(GetParam().format, weights);
  long double sum = 0.0L;
  for (size_t i = 0; i < x.size(); ++i) sum += static_cast<long double>(stored[i]) * static_cast<long double>(x[i]);
  EXPECT_NEAR(dot_reference(GetParam().format, packed(GetParam().format, weights), x), static_cast<double>(sum), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Formats, QuantiseEach, testing::ValuesIn(kBounds),
                         [](const auto& tested) { return std::string(tensor::info(tested.param.format).name); });

TEST(Quantise, EveryFormatThatComputesHasABound) {
  for (const FormatInfo& format : all_formats()) {
    if (!format.computes) continue;
    EXPECT_TRUE(std::ranges::any_of(kBounds, [&](const Bound& bound) { return bound.format == format.format; }))
        << format.name;
  }
}

TEST(Quantise, IntegersRoundAndClamp) {
  const std::vector<float> values = {1.5F, -2.4F, 300.0F, -1e20F};
  EXPECT_EQ(round_trip(Format::i8, values), (std::vector<float>{2.0F, -2.0F, 127.0F, -128.0F}));
  EXPECT_EQ(round_trip(Format::i16, values), (std::vector<float>{2.0F, -2.0F, 300.0F, -32768.0F}));
  EXPECT_EQ(round_trip(Format::i32, values), (std::vector<float>{2.0F, -2.0F, 300.0F, -2147483648.0F}));
  EXPECT_EQ(round_trip(Format::i64, values), (std::vector<float>{2.0F, -2.0F, 300.0F, -0x1p63F}));
}

}  // namespace
}  // namespace luce::tensor
