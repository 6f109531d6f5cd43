#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "cpu_bench.hpp"
#include "seen_activations.hpp"
#include "tensor/reference.hpp"

namespace luce::device {
namespace {

using tensor::Format;

/// All experts of one layer in memory, handed out in waves of a given size.
class WavesOf final : public ExpertService {
 public:
  WavesOf(const ExpertShape& shape, std::vector<PlacedExpert> experts, size_t wave, bool backwards)
      : shape_(shape), experts_(std::move(experts)), dispatch_(*this, wave, backwards) {}

  const ExpertShape& shape(int layer) const override {
    EXPECT_EQ(layer, 3);
    return shape_;
  }

  Dispatch& start(const Routing& routing) override {
    ++starts;
    rows = routing.rows;
    classes = routing.classes;
    weights.assign(routing.weights, routing.weights + routing.rows * routing.top_k);
    const std::set<int32_t> routed(routing.ids, routing.ids + routing.rows * routing.top_k);
    dispatch_.restart({routed.upper_bound(kNoExpert), routed.end()});
    return dispatch_;
  }
  void end_step() override {}

  int starts = 0;
  int rows = 0;
  int fail_at_wave = -1;
  const RowClass* classes = nullptr;
  std::vector<float> weights;

 private:
  class Waves final : public Dispatch {
   public:
    Waves(WavesOf& owner, size_t wave, bool backwards) : owner_(owner), wave_(wave), backwards_(backwards) {}

    void restart(std::vector<int32_t> routed) {
      routed_ = std::move(routed);
      if (backwards_) std::ranges::reverse(routed_);
      next_ = 0;
      waves_ = 0;
    }

    std::span<const PlacedExpert> next_wave() override {
      if (waves_++ == owner_.fail_at_wave) fail(ErrorKind::io, "model: an expert cannot be read");
      placed_.clear();
      for (; next_ < routed_.size() && placed_.size() < wave_; ++next_)
        placed_.push_back(owner_.experts_[static_cast<size_t>(routed_[next_])]);
      return placed_;
    }

   private:
    WavesOf& owner_;
    size_t wave_;
    bool backwards_;
    std::vector<int32_t> routed_;
    std::vector<PlacedExpert> placed_;
    size_t next_ = 0;
    int waves_ = 0;
  };

  ExpertShape shape_;
  std::vector<PlacedExpert> experts_;
  Waves dispatch_;
};

struct Layer {
  cpu::CpuDevice device{cpu::CpuSettings{.threads = 1}};
  ExpertShape shape;
  std::vector<std::vector<std::byte>> packed;
  std::vector<std::vector<float>> values;  // gate, up, down of expert 0, then of 1, ...
  std::vector<PlacedExpert> placed;

  explicit Layer(const ExpertShape& of) : shape(of) {
    for (int e = 0; e < shape.experts; ++e) {
      const Address gate = add_matrix(shape.gate, {shape.inner, shape.width});
      const Address up = add_matrix(shape.up, {shape.inner, shape.width});
      placed.push_back({e, gate, up, add_matrix(shape.down, {shape.width, shape.inner})});
    }
  }

 private:
  Address add_matrix(Format format, const tensor::Shape& matrix) {
    std::vector<std::byte> file(static_cast<size_t>(tensor::packed_bytes(format, matrix.elements())));
    std::vector<float>& floats = values.emplace_back(static_cast<size_t>(matrix.elements()));
    tensor::quantise(format, random_values(floats.size(), static_cast<unsigned>(values.size()), 0.1F), file);
    tensor::dequantise(format, file, floats);
    std::vector<std::byte>& bytes = packed.emplace_back(device.packed_bytes(format, matrix[0], matrix.width()));
    const auto address = reinterpret_cast<Address>(bytes.data());
    device.pack(format, matrix, file, address);
    return address;
  }
};

class ExpertBlocks : public OnEachCpu {
 protected:
  struct Routed {
    int64_t rows, top_k;
    std::vector<int32_t> ids;
    std::vector<float> x, weights;
  };

  static Routed route(const ExpertShape& shape, int64_t rows, int64_t top_k) {
    Routed routed{rows,
                  top_k,
                  {},
                  random_values(static_cast<size_t>(rows * shape.width), 5),
                  random_values(static_cast<size_t>(rows * top_k), 6)};
    std::mt19937 engine(7);
    std::vector<int32_t> all(static_cast<size_t>(shape.experts));
    for (int32_t e = 0; e < shape.experts; ++e) all[static_cast<size_t>(e)] = e;
    for (int64_t r = 0; r < rows; ++r) {
      std::shuffle(all.begin(), all.end(), engine);
      routed.ids.insert(routed.ids.end(), all.begin(), all.begin() + top_k);
    }
    return routed;
  }

  std::vector<float> run(const Routed& routed, WavesOf& service) {
    const ExpertShape& shape = service.shape(3);
    const int64_t pairs = routed.rows * routed.top_k;
    Guarded<float> x(routed.x), weights(routed.weights), hidden(static_cast<size_t>(pairs * shape.inner)),
        parts(static_cast<size_t>(pairs * shape.width)), out(static_cast<size_t>(routed.rows * shape.width));
    Guarded<int32_t> ids(routed.ids);
    const std::vector<RowClass> classes(static_cast<size_t>(routed.rows), RowClass::decode);
    const ExpertBlock block{.x = floats_tensor(x, {routed.rows, shape.width}),
                            .ids = ints_tensor(ids, {routed.rows, routed.top_k}),
                            .weights = floats_tensor(weights, {routed.rows, routed.top_k}),
                            .hidden = floats_tensor(hidden, {pairs, shape.inner}),
                            .parts = floats_tensor(parts, {pairs, shape.width}),
                            .out = floats_tensor(out, {routed.rows, shape.width}),
                            .service = &service,
                            .classes = classes.data(),
                            .layer = 3};
    Stream& step = stream();
    step.start_experts(block);
    step.finish_experts(block);
    step.finish();
    EXPECT_EQ(service.classes, classes.data());
    EXPECT_EQ(service.rows, routed.rows);
    EXPECT_EQ(service.weights, routed.weights);
    hidden.expect_intact();
    hidden_ = hidden.values();
    parts.expect_intact();
    out.expect_intact();
    return out.values();
  }

  // The hidden rows are checked on their own; the last matrix must have multiplied just what came out.
  std::vector<Expected> expected(const Routed& routed, const Layer& layer) {
    const auto width = static_cast<size_t>(layer.shape.width), top_k = static_cast<size_t>(routed.top_k);
    std::vector<Expected> out(static_cast<size_t>(routed.rows) * width);
    for (size_t pair = 0; pair < routed.ids.size(); ++pair) {
      const auto expert = static_cast<size_t>(routed.ids[pair]);
      const float* const x = routed.x.data() + pair / top_k * width;
      const auto inner = static_cast<size_t>(layer.shape.inner);
      const std::span<const float> hidden(hidden_.data() + pair * inner, inner);
      expect_close(hidden, hidden_row(layer, expert, {x, width}), 16, isa() + " hidden row");
      const std::vector<Expected> row = product(layer.values[3 * expert + 2], layer.shape.down, hidden);
      for (size_t i = 0; i < width; ++i) {
        Expected& sum = out[pair / top_k * width + i];
        sum.value += static_cast<double>(routed.weights[pair]) * row[i].value;
        sum.magnitude += std::fabs(static_cast<double>(routed.weights[pair])) * row[i].magnitude;
      }
    }
    return out;
  }

  static Expected dot(const std::vector<float>& matrix, size_t row, const std::vector<Expected>& x) {
    Expected sum;
    for (size_t i = 0; i < x.size(); ++i) {
      const auto weight = static_cast<double>(matrix[row * x.size() + i]);
      sum.value += weight * x[i].value;
      sum.magnitude += std::fabs(weight) * x[i].magnitude;
    }
    return sum;
  }

  static std::vector<Expected> product(const std::vector<float>& matrix, Format format, std::span<const float> x) {
    std::vector<Expected> input, out;
    for (const double value : seen_by(format, x)) input.push_back({value, std::fabs(value)});
    for (size_t row = 0; row < matrix.size() / x.size(); ++row) out.push_back(dot(matrix, row, input));
    return out;
  }

  static std::vector<Expected> hidden_row(const Layer& layer, size_t expert, std::span<const float> x) {
    std::vector<Expected> gate = product(layer.values[3 * expert], layer.shape.gate, x);
    const std::vector<Expected> up = product(layer.values[3 * expert + 1], layer.shape.up, x);
    for (size_t j = 0; j < gate.size(); ++j) {
      const double active = gate[j].value / (1 + std::exp(-gate[j].value));
      gate[j] = {active * up[j].value, 1.1 * gate[j].magnitude * up[j].magnitude};
    }
    return gate;
  }

  std::vector<float> hidden_;  // of the last run
};
LUCE_ON_EACH_CPU(ExpertBlocks);

const ExpertShape kMixed{
    .experts = 12, .width = 256, .inner = 96, .gate = Format::q4_k, .up = Format::q6_k, .down = Format::q8_0};
const ExpertShape kEqual{
    .experts = 6, .width = 64, .inner = 64, .gate = Format::iq4_nl, .up = Format::mxfp4, .down = Format::q4_0};
const ExpertShape kHalves{
    .experts = 6, .width = 64, .inner = 40, .gate = Format::q8_0, .up = Format::f16, .down = Format::bf16};
const ExpertShape kPlain{.experts = 5, .width = 20, .inner = 13};

TEST_P(ExpertBlocks, AgreeWithDouble) {
  for (const ExpertShape& shape : {kMixed, kEqual, kHalves, kPlain}) {
    const Layer layer(shape);
    for (const auto& [rows, top_k] : {std::pair(1, 1), std::pair(1, 4), std::pair(7, 3), std::pair(150, 3)}) {
      WavesOf service(shape, layer.placed, 100, false);
      const Routed routed = route(shape, rows, top_k);
      const std::vector<float> got = run(routed, service);
      expect_close(got, expected(routed, layer), 16, isa() + " experts");
    }
  }
}

TEST_P(ExpertBlocks, WavesChangeNoBit) {
  const Layer layer(kMixed);
  for (const auto& [rows, top_k] : {std::pair(1, 8), std::pair(6, 4), std::pair(70, 3)}) {
    const Routed routed = route(kMixed, rows, top_k);
    WavesOf at_once(kMixed, layer.placed, 100, false);
    const std::vector<float> expected_bits = run(routed, at_once);
    for (const size_t wave : {1UL, 2UL, 5UL})
      for (const bool backwards : {false, true}) {
        WavesOf service(kMixed, layer.placed, wave, backwards);
        EXPECT_EQ(run(routed, service), expected_bits) << "waves of " << wave;
      }
  }
}

TEST_P(ExpertBlocks, ThreadsChangeNoBit) {
  const Layer layer(kMixed);
  WavesOf service(kMixed, layer.placed, 3, false);
  for (const auto& [rows, top_k] : {std::pair(1, 8), std::pair(70, 3)}) {
    const Routed routed = route(kMixed, rows, top_k);
    const std::vector<float> first = run(routed, service);
    for (const int threads : {1, 2, 3, 7}) {
      use_threads(threads);
      EXPECT_EQ(run(routed, service), first) << threads << " threads, " << rows << " rows";
    }
  }
}

TEST_P(ExpertBlocks, PlacesWithoutAnExpertAddNothing) {
  const Layer layer(kMixed);
  WavesOf service(kMixed, layer.placed, 3, false);
  Routed fewer = route(kMixed, 7, 2);
  const std::vector<float> alone = run(fewer, service);
  Routed wide{7, 4, {}, fewer.x, {}};
  for (size_t row = 0; row < 7; ++row) {
    wide.ids.insert(wide.ids.end(), {fewer.ids[2 * row], fewer.ids[2 * row + 1], kNoExpert, kNoExpert});
    wide.weights.insert(wide.weights.end(), {fewer.weights[2 * row], fewer.weights[2 * row + 1], 0, 0});
  }
  EXPECT_EQ(run(wide, service), alone);
}

TEST_P(ExpertBlocks, ARowDoesNotDependOnItsNeighbours) {
  const Layer layer(kMixed);
  const Routed routed = route(kMixed, 70, 4);
  WavesOf service(kMixed, layer.placed, 3, false);
  const std::vector<float> together = run(routed, service);
  for (const int64_t row : {0, 13, 69}) {
    const auto width = kMixed.width;
    const Routed one{1,
                     4,
                     {routed.ids.begin() + row * 4, routed.ids.begin() + row * 4 + 4},
                     {routed.x.begin() + row * width, routed.x.begin() + (row + 1) * width},
                     {routed.weights.begin() + row * 4, routed.weights.begin() + row * 4 + 4}};
    const std::vector<float> alone = run(one, service);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + row * width)) << "row " << row;
  }
}

TEST_P(ExpertBlocks, AFailedReadEndsTheStepAndTheNextOneWorks) {
  const Layer layer(kMixed);
  const Routed routed = route(kMixed, 2, 3);
  WavesOf service(kMixed, layer.placed, 1, false);
  const std::vector<float> before = run(routed, service);
  service.fail_at_wave = 2;
  EXPECT_THROW(run(routed, service), Error);
  service.fail_at_wave = -1;
  EXPECT_EQ(run(routed, service), before);
  EXPECT_EQ(service.starts, 3);
}

}  // namespace
}  // namespace luce::device
