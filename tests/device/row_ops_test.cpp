#include <gtest/gtest.h>

#include <functional>

#include "cpu_bench.hpp"
#include "tensor/reference.hpp"

namespace luce::device {
namespace {

using tensor::Format;
using tensor::Shape;

double silu(double x) { return x / (1 + std::exp(-x)); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Expected exactly(double value) { return {value, std::fabs(value)}; }

/// Element-wise ops at awkward widths; the magnitude of an element is its own.
class RowOps : public OnEachCpu {
 protected:
  static constexpr int64_t kRows = 5;
  static std::vector<int64_t> widths() { return {1, 2, 7, 16, 31, 33, 64, 100}; }

  static Guarded<float> values(int64_t count, unsigned seed, float scale = 1.0F) {
    return Guarded<float>(random_values(static_cast<size_t>(count), seed, scale));
  }
};
LUCE_ON_EACH_CPU(RowOps);

TEST_P(RowOps, RmsNormDividesByTheRootOfTheMeanSquare) {
  for (const int64_t width : widths()) {
    Guarded<float> x = values(kRows * width, 1), weight = values(width, 2), out(static_cast<size_t>(kRows * width));
    stream().rms_norm({.x = floats_tensor(x, {kRows, width}),
                       .weight = floats_tensor(weight, {width}),
                       .out = floats_tensor(out, {kRows, width}),
                       .epsilon = 1e-5F});
    std::vector<Expected> expected;
    for (int64_t r = 0; r < kRows; ++r) {
      double squares = 0;
      for (int64_t i = 0; i < width; ++i) squares += std::pow(x[static_cast<size_t>(r * width + i)], 2);
      const double root = std::sqrt(squares / static_cast<double>(width) + static_cast<double>(1e-5F));
      for (int64_t i = 0; i < width; ++i)
        expected.push_back(exactly(static_cast<double>(x[static_cast<size_t>(r * width + i)]) / root *
                                   static_cast<double>(weight[static_cast<size_t>(i)])));
    }
    expect_close(out.values(), expected, 8 + static_cast<double>(width) / 16, "rms_norm of " + std::to_string(width));
    out.expect_intact();
  }
}

TEST_P(RowOps, RmsNormTakesStridedHeadsInPlace) {
  // [rows, heads, 2 * width]: the first half of each head is normalised, the second half must stay.
  constexpr int64_t kHeads = 3, kWidth = 6;
  Guarded<float> x = values(kRows * kHeads * 2 * kWidth, 3), weight = values(kWidth, 4);
  const std::vector<float> before = x.values();
  const Tensor heads = columns(split_heads(floats_tensor(x, {kRows, kHeads * 2 * kWidth}), kHeads), 0, kWidth);
  stream().rms_norm({.x = heads, .weight = floats_tensor(weight, {kWidth}), .out = heads, .epsilon = 0});
  for (int64_t line = 0; line < kRows * kHeads; ++line) {
    const auto at = static_cast<size_t>(line * 2 * kWidth);
    double squares = 0;
    for (size_t i = 0; i < kWidth; ++i) squares += std::pow(before[at + i], 2);
    for (size_t i = 0; i < kWidth; ++i) {
      const double expected =
          static_cast<double>(before[at + i]) / std::sqrt(squares / kWidth) * static_cast<double>(weight[i]);
      EXPECT_NEAR(x[at + i], expected, 1e-6 * std::fabs(expected) + 1e-9);
      EXPECT_EQ(x[at + kWidth + i], before[at + kWidth + i]);
    }
  }
}

TEST_P(RowOps, L2NormMakesLinesOfLengthOne) {
  for (const int64_t width : widths()) {
    Guarded<float> x = values(kRows * width, 5);
    for (int64_t i = 0; i < width; ++i) x[static_cast<size_t>(i)] = 0;
    const std::vector<float> before = x.values();
    stream().l2_norm({.x = floats_tensor(x, {kRows, width}), .epsilon = 1e-6F});
    std::vector<Expected> expected;
    for (int64_t r = 0; r < kRows; ++r) {
      double squares = 0;
      for (int64_t i = 0; i < width; ++i) squares += std::pow(before[static_cast<size_t>(r * width + i)], 2);
      const double length = std::max(std::sqrt(squares), 1e-6);
      for (int64_t i = 0; i < width; ++i)
        expected.push_back(exactly(static_cast<double>(before[static_cast<size_t>(r * width + i)]) / length));
    }
    expect_close(x.values(), expected, 8 + static_cast<double>(width) / 16, "l2_norm of " + std::to_string(width));
    x.expect_intact();
  }
}

TEST_P(RowOps, AddSumsInPlace) {
  for (const int64_t width : widths()) {
    Guarded<float> x = values(kRows * width, 6), y = values(kRows * width, 7);
    const std::vector<float> before = x.values();
    stream().add({.x = floats_tensor(x, {kRows, width}), .y = floats_tensor(y, {kRows, width})});
    for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], before[i] + y[i]);
    x.expect_intact();
  }
}

TEST_P(RowOps, SwigluAndGatesFollowTheirFormulas) {
  for (const int64_t width : widths()) {
    Guarded<float> gate = values(kRows * width, 8, 6.0F), up = values(kRows * width, 9);
    Guarded<float> out(up.size()), by_sigmoid(up.values()), by_silu(up.values());
    const Shape shape{kRows, width};
    Stream& step = stream();
    step.swiglu({.gate = floats_tensor(gate, shape), .up = floats_tensor(up, shape), .out = floats_tensor(out, shape)});
    step.multiply_gate({.x = floats_tensor(by_sigmoid, shape), .gate = floats_tensor(gate, shape)});
    step.multiply_gate(
        {.x = floats_tensor(by_silu, shape), .gate = floats_tensor(gate, shape), .function = GateFunction::silu});
    std::vector<Expected> with_silu, with_sigmoid;
    for (size_t i = 0; i < up.size(); ++i) {
      with_silu.push_back(exactly(silu(static_cast<double>(gate[i])) * static_cast<double>(up[i])));
      with_sigmoid.push_back(exactly(sigmoid(static_cast<double>(gate[i])) * static_cast<double>(up[i])));
    }
    expect_close(out.values(), with_silu, 4, "swiglu");
    expect_close(by_silu.values(), with_silu, 4, "silu gate");
    expect_close(by_sigmoid.values(), with_sigmoid, 4, "sigmoid gate");
    out.expect_intact();
  }
}

TEST_P(RowOps, SigmoidAndSiluHoldAtTheEndsOfTheRange) {
  const std::vector<float> ends = {-1e4F, -104, -90, -88, -87, -1e-8F, 0, 1e-8F, 87, 88, 90, 104, 1e4F};
  Guarded<float> gate(ends), by_sigmoid(std::vector<float>(ends.size(), 1)),
      by_silu(std::vector<float>(ends.size(), 1));
  const Shape shape{1, static_cast<int64_t>(ends.size())};
  stream().multiply_gate({.x = floats_tensor(by_sigmoid, shape), .gate = floats_tensor(gate, shape)});
  stream().multiply_gate(
      {.x = floats_tensor(by_silu, shape), .gate = floats_tensor(gate, shape), .function = GateFunction::silu});
  for (size_t i = 0; i < ends.size(); ++i) {
    const double x = static_cast<double>(ends[i]);
    EXPECT_NEAR(by_sigmoid[i], sigmoid(x), 3e-7 * sigmoid(x) + 2e-38) << x;
    EXPECT_NEAR(by_silu[i], silu(x), 3e-7 * std::fabs(silu(x)) + 2e-36) << x;
  }
}

TEST_P(RowOps, GateOfWidthOneScalesWholeRows) {
  Guarded<float> x = values(kRows * 9, 10), gate = values(kRows, 11);
  const std::vector<float> before = x.values();
  stream().multiply_gate({.x = floats_tensor(x, {kRows, 9}), .gate = floats_tensor(gate, {kRows, 1})});
  std::vector<Expected> expected;
  for (size_t i = 0; i < x.size(); ++i)
    expected.push_back(exactly(static_cast<double>(before[i]) * sigmoid(static_cast<double>(gate[i / 9]))));
  expect_close(x.values(), expected, 4, "gate of width 1");
}

TEST_P(RowOps, RotaryTurnsPairsByPosition) {
  constexpr int64_t kHeads = 2, kWidth = 10;
  constexpr int kDimensions = 6;
  for (const RotaryStyle style : {RotaryStyle::halves, RotaryStyle::neighbours})
    for (const bool with_factors : {false, true}) {
      Guarded<float> x = values(kRows * kHeads * kWidth, 12), factors(std::vector<float>{1, 2.5F, 8});
      Guarded<int32_t> positions(std::vector<int32_t>{0, 1, 7, 500, 100000});
      const std::vector<float> before = x.values();
      stream().rotary({.x = floats_tensor(x, {kRows, kHeads, kWidth}),
                       .positions = ints_tensor(positions, {kRows}),
                       .frequency_factors = with_factors ? floats_tensor(factors, {3}) : Tensor{},
                       .dimensions = kDimensions,
                       .base = 1000.0F,
                       .frequency_scale = 0.5F,
                       .style = style});
      std::vector<Expected> expected(x.size());
      for (size_t i = 0; i < x.size(); ++i) expected[i] = exactly(static_cast<double>(before[i]));
      for (size_t line = 0; line < kRows * kHeads; ++line)
        for (size_t pair = 0; pair < kDimensions / 2; ++pair) {
          const double angle = positions[line / kHeads] * 0.5 * std::pow(1000.0, -static_cast<double>(pair) / 3) /
                               (with_factors ? static_cast<double>(factors[pair]) : 1.0);
          const bool halves = style == RotaryStyle::halves;
          const size_t first = line * kWidth + (halves ? pair : 2 * pair), second = first + (halves ? 3 : 1);
          const double a = static_cast<double>(before[first]), b = static_cast<double>(before[second]);
          expected[first] = {a * std::cos(angle) - b * std::sin(angle), std::fabs(a) + std::fabs(b)};
          expected[second] = {a * std::sin(angle) + b * std::cos(angle), std::fabs(a) + std::fabs(b)};
        }
      expect_close(x.values(), expected, 2, "rotary");
      x.expect_intact();
    }
}

TEST_P(RowOps, RotaryTablesFollowChangedPositions) {
  Guarded<float> x(std::vector<float>{1, 0}), again(std::vector<float>{1, 0});
  Guarded<int32_t> positions(std::vector<int32_t>{3});
  const auto turn = [&](Guarded<float>& values) {
    stream().rotary({.x = floats_tensor(values, {1, 1, 2}),
                     .positions = ints_tensor(positions, {1}),
                     .frequency_factors = {},
                     .dimensions = 2});
  };
  turn(x);
  positions[0] = 4;
  turn(again);
  EXPECT_NEAR(x[0], std::cos(3.0), 1e-6);
  EXPECT_NEAR(again[0], std::cos(4.0), 1e-6);
}

TEST_P(RowOps, EmbedAndGatherCopyRows) {
  constexpr int64_t kWidth = 64, kVocabulary = 9;
  std::vector<std::byte> table(static_cast<size_t>(tensor::packed_bytes(Format::q5_0, kVocabulary * kWidth)));
  std::vector<float> dequantised(kVocabulary * kWidth);
  tensor::quantise(Format::q5_0, random_values(kVocabulary * kWidth, 13), table);
  tensor::dequantise(Format::q5_0, table, dequantised);
  Guarded<int32_t> ids(std::vector<int32_t>{8, 0, 3, 3, 5}), pick(std::vector<int32_t>{4, 0});
  Guarded<float> out(kRows * kWidth), picked(2 * kWidth);
  const Tensor weights{Format::q5_0, {kVocabulary, kWidth}, {}, reinterpret_cast<Address>(table.data())};
  Stream& step = stream();
  step.embed_rows({.table = weights, .ids = ints_tensor(ids, {kRows}), .out = floats_tensor(out, {kRows, kWidth})});
  step.gather_rows({.x = floats_tensor(out, {kRows, kWidth}),
                    .indices = ints_tensor(pick, {2}),
                    .out = floats_tensor(picked, {2, kWidth})});
  for (size_t r = 0; r < kRows; ++r)
    for (size_t i = 0; i < kWidth; ++i)
      EXPECT_EQ(out[r * kWidth + i], dequantised[static_cast<size_t>(ids[r]) * kWidth + i]);
  for (size_t i = 0; i < kWidth; ++i) {
    EXPECT_EQ(picked[i], out[4 * kWidth + i]);
    EXPECT_EQ(picked[kWidth + i], out[i]);
  }
}

TEST_P(RowOps, MatmulAddsItsBiasAndTakesStridedRows) {
  constexpr int64_t kWidth = 40, kOut = 300;
  Guarded<float> weight = values(kOut * kWidth, 14), bias = values(kOut, 15), wide = values(kRows * 2 * kWidth, 16);
  Guarded<float> out(kRows * (kOut + 5));
  const Tensor x = columns(floats_tensor(wide, {kRows, 2 * kWidth}), kWidth, kWidth);
  const Tensor result = columns(floats_tensor(out, {kRows, kOut + 5}), 5, kOut);
  stream().matmul(
      {.x = x, .weight = floats_tensor(weight, {kOut, kWidth}), .bias = floats_tensor(bias, {kOut}), .out = result});
  std::vector<Expected> expected;
  for (size_t r = 0; r < kRows; ++r) {
    expected.insert(expected.end(), 5, Expected{});
    for (size_t w = 0; w < kOut; ++w) {
      Expected sum = exactly(static_cast<double>(bias[w]));
      for (size_t i = 0; i < kWidth; ++i) {
        const double product =
            static_cast<double>(weight[w * kWidth + i]) * static_cast<double>(wide[r * 2 * kWidth + kWidth + i]);
        sum.value += product;
        sum.magnitude += std::fabs(product);
      }
      expected.push_back(sum);
    }
  }
  expect_close(out.values(), expected, 10, "matmul with bias");
  out.expect_intact();
}

TEST_P(RowOps, DeltaGatesFollowTheirFormulas) {
  constexpr int64_t kHeads = 7;
  Guarded<float> alpha = values(kRows * kHeads, 17, 5.0F), beta = values(kRows * kHeads, 18, 5.0F);
  Guarded<float> bias = values(kHeads, 19), a = values(kHeads, 20);
  for (size_t h = 0; h < kHeads; ++h) a[h] = -std::fabs(a[h]);
  const std::vector<float> alpha_before = alpha.values(), beta_before = beta.values();
  stream().delta_gates({.alpha = floats_tensor(alpha, {kRows, kHeads}),
                        .beta = floats_tensor(beta, {kRows, kHeads}),
                        .dt_bias = floats_tensor(bias, {kHeads}),
                        .a = floats_tensor(a, {kHeads})});
  std::vector<Expected> decay, gate;
  for (size_t i = 0; i < alpha.size(); ++i) {
    const double sum = static_cast<double>(alpha_before[i]) + static_cast<double>(bias[i % kHeads]);
    const double exponent = static_cast<double>(a[i % kHeads]) * std::log1p(std::exp(sum));
    decay.push_back({std::exp(exponent), std::exp(exponent) * (1 + std::fabs(exponent) + std::fabs(sum))});
    gate.push_back(exactly(sigmoid(static_cast<double>(beta_before[i]))));
  }
  expect_close(alpha.values(), decay, 6, "decay");
  expect_close(beta.values(), gate, 4, "beta");
}

}  // namespace
}  // namespace luce::device
