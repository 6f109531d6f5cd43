#include <gtest/gtest.h>

#include "cpu_bench.hpp"

namespace luce::device {
namespace {

using tensor::Shape;

/// Convolution and delta rule against plain loops in double, over several steps of two sequences.
class RecurrentOps : public OnEachCpu {};
LUCE_ON_EACH_CPU(RecurrentOps);

constexpr size_t kSlots = 3;

// Steps as lists of (slot, rows, first position); rows of a step follow each other.
struct StepSpan {
  int32_t slot, rows, first_position;
};
using Step = std::vector<StepSpan>;

Guarded<int32_t> spans_of(const Step& step) {
  std::vector<int32_t> flat;
  int32_t row = 0;
  for (const StepSpan& span : step) {
    flat.insert(flat.end(), {span.slot, row, span.rows, span.first_position});
    row += span.rows;
  }
  return Guarded<int32_t>(flat);
}

size_t rows_of(const Step& step) {
  size_t rows = 0;
  for (const StepSpan& span : step) rows += static_cast<size_t>(span.rows);
  return rows;
}

// One sequence whole, then in pieces beside another one, then restarted in the same slot.
const std::vector<Step> kSteps = {
    {{2, 9, 0}}, {{0, 1, 0}, {2, 1, 9}}, {{0, 5, 1}, {2, 2, 10}}, {{2, 3, 0}, {0, 1, 6}}, {{1, 1, 0}}};

TEST_P(RecurrentOps, ConvolveRemembersItsLastInputs) {
  for (const size_t channels : {5UL, 130UL})
    for (const size_t taps : {1UL, 2UL, 4UL}) {
      Guarded<float> kernel(random_values(channels * taps, 1));
      Guarded<float> state(random_values(kSlots * (taps - 1) * channels, 2));  // a first position of 0 clears it
      std::vector<std::vector<float>> inputs(kSlots);                          // of each slot since it started
      unsigned seed = 3;
      for (const Step& step : kSteps) {
        const size_t rows = rows_of(step);
        Guarded<float> x(random_values(rows * channels, seed++)), out(rows * channels);
        Guarded<int32_t> spans = spans_of(step);
        stream().convolve(
            {.x = floats_tensor(x, {static_cast<int64_t>(rows), static_cast<int64_t>(channels)}),
             .kernel = floats_tensor(kernel, {static_cast<int64_t>(channels), static_cast<int64_t>(taps)}),
             .state = floats_tensor(state, {kSlots, static_cast<int64_t>(taps - 1), static_cast<int64_t>(channels)}),
             .spans = ints_tensor(spans, {static_cast<int64_t>(step.size()), 4}),
             .out = floats_tensor(out, {static_cast<int64_t>(rows), static_cast<int64_t>(channels)})});
        std::vector<Expected> expected;
        size_t row = 0;
        for (const StepSpan& span : step) {
          std::vector<float>& past = inputs[static_cast<size_t>(span.slot)];
          if (span.first_position == 0) past.clear();
          for (int32_t r = 0; r < span.rows; ++r, ++row) {
            past.insert(past.end(), x.data() + row * channels, x.data() + (row + 1) * channels);
            const size_t count = past.size() / channels;
            for (size_t c = 0; c < channels; ++c) {
              Expected sum;
              for (size_t t = 0; t < std::min(taps, count); ++t) {
                const double product = static_cast<double>(past[(count - 1 - t) * channels + c]) *
                                       static_cast<double>(kernel[c * taps + taps - 1 - t]);
                sum.value += product;
                sum.magnitude += std::fabs(product);
              }
              expected.push_back({sum.value / (1 + std::exp(-sum.value)), sum.magnitude});
            }
          }
        }
        expect_close(out.values(), expected, 8, isa() + " convolution");
        out.expect_intact();
        state.expect_intact();
      }
    }
}

struct DeltaSizes {
  size_t key_heads, value_heads, key_width, value_width;
};

/// The rule as the header states it, in double.
class DeltaReference {
 public:
  explicit DeltaReference(const DeltaSizes& sizes) : sizes_(sizes) {}

  void restart() { state_.assign(sizes_.value_heads * sizes_.key_width * sizes_.value_width, 0.0); }

  void row(const float* q, const float* k, const float* v, const float* decay, const float* beta,
           std::vector<Expected>& out) {
    for (size_t h = 0; h < sizes_.value_heads; ++h) {
      const size_t key = h % sizes_.key_heads * sizes_.key_width;
      for (size_t j = 0; j < sizes_.value_width; ++j)
        out.push_back(column(h, j, q + key, k + key, static_cast<double>(v[h * sizes_.value_width + j]),
                             static_cast<double>(decay[h]), static_cast<double>(beta[h])));
    }
  }

 private:
  Expected column(size_t h, size_t j, const float* q, const float* k, double v, double decay, double beta) {
    const auto at = [&](size_t i) -> double& { return state_[(h * sizes_.key_width + i) * sizes_.value_width + j]; };
    double seen = 0, reach = std::fabs(v);
    for (size_t i = 0; i < sizes_.key_width; ++i) {
      at(i) *= decay;
      seen += at(i) * static_cast<double>(k[i]);
      reach += std::fabs(at(i) * static_cast<double>(k[i]));
    }
    const double change = beta * (v - seen);
    Expected out;
    for (size_t i = 0; i < sizes_.key_width; ++i) {
      at(i) += static_cast<double>(k[i]) * change;
      out.value += at(i) * static_cast<double>(q[i]);
      out.magnitude +=
          (std::fabs(at(i)) + std::fabs(static_cast<double>(k[i])) * reach) * std::fabs(static_cast<double>(q[i]));
    }
    const double root = std::sqrt(static_cast<double>(sizes_.key_width));
    return {out.value / root, out.magnitude / root};
  }

  DeltaSizes sizes_;
  std::vector<double> state_;
};

void normalise(Guarded<float>& values, size_t width) {
  for (size_t line = 0; line < values.size(); line += width) {
    double squares = 0;
    for (size_t i = 0; i < width; ++i) squares += std::pow(values[line + i], 2);
    for (size_t i = 0; i < width; ++i)
      values[line + i] = static_cast<float>(static_cast<double>(values[line + i]) / std::sqrt(squares));
  }
}

Guarded<float> fractions(size_t count, unsigned seed) {
  Guarded<float> values(random_values(count, seed));
  for (size_t i = 0; i < count; ++i) values[i] = 1 / (1 + std::exp(-values[i]));
  return values;
}

TEST_P(RecurrentOps, DeltaRuleFollowsItsDefinition) {
  for (const DeltaSizes& s : {DeltaSizes{2, 4, 16, 20}, DeltaSizes{3, 3, 7, 5}, DeltaSizes{1, 2, 128, 128}}) {
    const auto axis = [](size_t extent) { return static_cast<int64_t>(extent); };
    Guarded<float> state(random_values(kSlots * s.value_heads * s.key_width * s.value_width, 1));
    std::vector<DeltaReference> references(kSlots, DeltaReference(s));
    unsigned seed = 2;
    for (const Step& step : kSteps) {
      const size_t rows = rows_of(step);
      Guarded<float> q(random_values(rows * s.key_heads * s.key_width, seed++));
      Guarded<float> k(random_values(rows * s.key_heads * s.key_width, seed++));
      normalise(q, s.key_width);
      normalise(k, s.key_width);
      Guarded<float> v(random_values(rows * s.value_heads * s.value_width, seed++)), out(v.size());
      Guarded<float> decay = fractions(rows * s.value_heads, seed++), beta = fractions(rows * s.value_heads, seed++);
      Guarded<int32_t> spans = spans_of(step);
      stream().delta_rule(
          {.q = floats_tensor(q, {axis(rows), axis(s.key_heads), axis(s.key_width)}),
           .k = floats_tensor(k, {axis(rows), axis(s.key_heads), axis(s.key_width)}),
           .v = floats_tensor(v, {axis(rows), axis(s.value_heads), axis(s.value_width)}),
           .decay = floats_tensor(decay, {axis(rows), axis(s.value_heads)}),
           .beta = floats_tensor(beta, {axis(rows), axis(s.value_heads)}),
           .state = floats_tensor(state, {kSlots, axis(s.value_heads), axis(s.key_width), axis(s.value_width)}),
           .spans = ints_tensor(spans, {axis(step.size()), 4}),
           .out = floats_tensor(out, {axis(rows), axis(s.value_heads), axis(s.value_width)})});
      std::vector<Expected> expected;
      size_t row = 0;
      for (const StepSpan& span : step) {
        DeltaReference& reference = references[static_cast<size_t>(span.slot)];
        if (span.first_position == 0) reference.restart();
        for (int32_t r = 0; r < span.rows; ++r, ++row)
          reference.row(q.data() + row * s.key_heads * s.key_width, k.data() + row * s.key_heads * s.key_width,
                        v.data() + row * s.value_heads * s.value_width, decay.data() + row * s.value_heads,
                        beta.data() + row * s.value_heads, expected);
      }
      expect_close(out.values(), expected, 16 + static_cast<double>(s.key_width), isa() + " delta rule");
      out.expect_intact();
      state.expect_intact();
    }
  }
}

// Rows [begin, begin + rows) of a tensor of all rows.
Tensor rows_of_tensor(Tensor whole, int64_t begin, int64_t rows) {
  whole.address += static_cast<Address>(begin * whole.stride[0]) * sizeof(float);
  return first_rows(whole, rows);
}

TEST_P(RecurrentOps, CuttingASequenceIntoStepsChangesNoBit) {
  constexpr int64_t kRows = 11, kHeads = 4, kKeys = 24, kValues = 40, kTaps = 4, kChannels = kHeads * kValues;
  Guarded<float> x(random_values(kRows * kChannels, 1)), kernel(random_values(kChannels * kTaps, 2));
  Guarded<float> k(random_values(kRows * kHeads * kKeys, 3, 0.2F)), q(random_values(kRows * kHeads * kKeys, 4));
  Guarded<float> decay = fractions(kRows * kHeads, 5), beta = fractions(kRows * kHeads, 6);
  const auto run = [&](const std::vector<int32_t>& pieces) {
    Guarded<float> past((kTaps - 1) * kChannels), state(kHeads * kKeys * kValues), mixed(kRows * kChannels),
        out(mixed.size());
    int32_t first = 0;
    for (const int32_t rows : pieces) {
      Guarded<int32_t> span(std::vector<int32_t>{0, 0, rows, first});
      const auto part = [&](Guarded<float>& values, const Shape& shape) {
        return rows_of_tensor(floats_tensor(values, shape), first, rows);
      };
      Stream& step = stream();
      step.convolve({.x = part(x, {kRows, kChannels}),
                     .kernel = floats_tensor(kernel, {kChannels, kTaps}),
                     .state = floats_tensor(past, {1, kTaps - 1, kChannels}),
                     .spans = ints_tensor(span, {1, 4}),
                     .out = part(mixed, {kRows, kChannels})});
      step.delta_rule({.q = part(q, {kRows, kHeads, kKeys}),
                       .k = part(k, {kRows, kHeads, kKeys}),
                       .v = split_heads(part(mixed, {kRows, kChannels}), kHeads),
                       .decay = part(decay, {kRows, kHeads}),
                       .beta = part(beta, {kRows, kHeads}),
                       .state = floats_tensor(state, {1, kHeads, kKeys, kValues}),
                       .spans = ints_tensor(span, {1, 4}),
                       .out = split_heads(part(out, {kRows, kChannels}), kHeads)});
      first += rows;
    }
    return out.values();
  };
  const std::vector<float> whole = run({11});
  EXPECT_EQ(run({1, 1, 9}), whole);
  EXPECT_EQ(run({2, 2, 2, 2, 3}), whole);
  EXPECT_EQ(run({7, 1, 3}), whole);
}

}  // namespace
}  // namespace luce::device
