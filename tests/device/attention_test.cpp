#include <gtest/gtest.h>

#include "base/error.hpp"
#include "cpu_bench.hpp"
#include "tensor/reference.hpp"

namespace luce::device {
namespace {

using tensor::Format;
using tensor::Shape;

struct Sizes {
  int64_t heads = 4, kv_heads = 2, key_width = 32, value_width = 32;
};

/// A cache of some sequences, filled through append_kv, and attention over it.
class AttentionOps : public OnEachCpu {
 protected:
  static constexpr int64_t kSlots = 2, kContext = 1300;

  void fill(Format format, const Sizes& sizes) {
    sizes_ = sizes;
    format_ = format;
    keys_ = random_values(static_cast<size_t>(kContext * sizes.kv_heads * sizes.key_width), 1);
    values_ = random_values(static_cast<size_t>(kContext * sizes.kv_heads * sizes.value_width), 2);
    k_bytes_ = cache_bytes(sizes.kv_heads * sizes.key_width);
    v_bytes_ = cache_bytes(sizes.kv_heads * sizes.value_width);
    Guarded<float> k(keys_), v(values_);
    std::vector<int32_t> positions(kContext);
    for (int32_t p = 0; p < kContext; ++p) positions[static_cast<size_t>(p)] = p;
    Guarded<int32_t> at(positions), slots(std::vector<int32_t>(kContext, 1));
    stream().append_kv({.k = floats_tensor(k, {kContext, sizes.kv_heads, sizes.key_width}),
                        .v = floats_tensor(v, {kContext, sizes.kv_heads, sizes.value_width}),
                        .slots = ints_tensor(slots, {kContext}),
                        .positions = ints_tensor(at, {kContext}),
                        .k_cache = cache(k_bytes_, sizes.key_width),
                        .v_cache = cache(v_bytes_, sizes.value_width)});
    k_bytes_.expect_intact();
    v_bytes_.expect_intact();
  }

  Guarded<uint8_t> cache_bytes(int64_t row_values) const {
    return Guarded<uint8_t>(static_cast<size_t>(kSlots * kContext * tensor::packed_bytes(format_, row_values)), 4);
  }

  Tensor cache(Guarded<uint8_t>& bytes, int64_t head_width) const {
    return {format_, {kSlots, kContext, sizes_.kv_heads * head_width}, {}, bytes.address()};
  }

  // What slot 1 of a cache holds, as floats.
  std::vector<float> cached(const Guarded<uint8_t>& bytes, int64_t head_width) const {
    const size_t half = bytes.size() / 2;
    std::vector<float> values(static_cast<size_t>(kContext * sizes_.kv_heads * head_width));
    tensor::dequantise(format_, std::as_bytes(std::span(bytes.data() + half, half)), values);
    return values;
  }

  std::vector<float> attend(const std::vector<float>& q, const std::vector<int32_t>& positions) {
    const auto rows = static_cast<int64_t>(positions.size());
    Guarded<float> query(q), out(static_cast<size_t>(rows * sizes_.heads * sizes_.value_width));
    Guarded<int32_t> at(positions), slots(std::vector<int32_t>(positions.size(), 1));
    stream().attend({.q = floats_tensor(query, {rows, sizes_.heads, sizes_.key_width}),
                     .k_cache = cache(k_bytes_, sizes_.key_width),
                     .v_cache = cache(v_bytes_, sizes_.value_width),
                     .slots = ints_tensor(slots, {rows}),
                     .positions = ints_tensor(at, {rows}),
                     .out = floats_tensor(out, {rows, sizes_.heads, sizes_.value_width}),
                     .kv_heads = sizes_.kv_heads,
                     .scale = 0.2F});
    out.expect_intact();
    return out.values();
  }

  std::vector<float> queries(size_t rows) const {
    return random_values(rows * static_cast<size_t>(sizes_.heads * sizes_.key_width), 3);
  }

  std::vector<Expected> expected(const std::vector<float>& q, const std::vector<int32_t>& positions) const {
    const std::vector<float> keys = cached(k_bytes_, sizes_.key_width), values = cached(v_bytes_, sizes_.value_width);
    std::vector<Expected> out;
    for (size_t r = 0; r < positions.size(); ++r)
      for (int64_t h = 0; h < sizes_.heads; ++h) append_head(out, q, keys, values, positions[r], r, h);
    return out;
  }

  void append_head(std::vector<Expected>& out, const std::vector<float>& q, const std::vector<float>& keys,
                   const std::vector<float>& values, int32_t position, size_t row, int64_t head) const {
    const int64_t kv_head = head / (sizes_.heads / sizes_.kv_heads);
    std::vector<double> weights;
    double largest = -1e300, total = 0, reach = 0;
    for (int64_t p = 0; p <= position; ++p) {
      double score = 0, magnitude = 0;
      for (int64_t i = 0; i < sizes_.key_width; ++i) {
        const double product =
            static_cast<double>(q[row * static_cast<size_t>(sizes_.heads * sizes_.key_width) +
                                  static_cast<size_t>(head * sizes_.key_width + i)]) *
            static_cast<double>(keys[static_cast<size_t>((p * sizes_.kv_heads + kv_head) * sizes_.key_width + i)]);
        score += product * static_cast<double>(0.2F);
        magnitude += std::fabs(product) * 0.2;
      }
      weights.push_back(score);
      largest = std::max(largest, score);
      reach = std::max(reach, magnitude);
    }
    for (double& weight : weights) total += weight = std::exp(weight - largest);
    for (int64_t i = 0; i < sizes_.value_width; ++i) {
      Expected sum;
      for (int64_t p = 0; p <= position; ++p) {
        const double product =
            weights[static_cast<size_t>(p)] / total *
            static_cast<double>(values[static_cast<size_t>((p * sizes_.kv_heads + kv_head) * sizes_.value_width + i)]);
        sum.value += product;
        sum.magnitude += std::fabs(product) * (1 + reach);  // errors of scores pass through the exponential
      }
      out.push_back(sum);
    }
  }

  Sizes sizes_;
  Format format_ = Format::f32;
  std::vector<float> keys_, values_;
  Guarded<uint8_t> k_bytes_{0}, v_bytes_{0};
};
LUCE_ON_EACH_CPU(AttentionOps);

const std::vector<int32_t> kPositions = {0, 1, 2, 30, 511, 512, 513, 1023, 1299};

TEST_P(AttentionOps, AgreesWithDoubleInEveryCacheFormat) {
  for (const Format format : {Format::f32, Format::f16, Format::q8_0})
    for (const Sizes& sizes : {Sizes{}, Sizes{.heads = 8, .kv_heads = 1, .key_width = 64, .value_width = 96},
                               Sizes{.heads = 3, .kv_heads = 3, .key_width = 96, .value_width = 32}}) {
      fill(format, sizes);
      const std::vector<float> q = queries(kPositions.size());
      expect_close(attend(q, kPositions), expected(q, kPositions), 24,
                   isa() + " attention over " + std::string(tensor::info(format).name));
    }
}

TEST_P(AttentionOps, TakesHeadsThatAreNoMultipleOfAVector) {
  for (const Format format : {Format::f32, Format::f16}) {
    fill(format, {.heads = 5, .kv_heads = 1, .key_width = 21, .value_width = 35});
    const std::vector<float> q = queries(kPositions.size());
    expect_close(attend(q, kPositions), expected(q, kPositions), 24, isa() + " attention of odd heads");
  }
}

TEST_P(AttentionOps, ARowDoesNotDependOnItsNeighbours) {
  fill(Format::f16, {});
  const std::vector<float> q = queries(kPositions.size());
  const std::vector<float> together = attend(q, kPositions);
  const auto row_values = static_cast<size_t>(sizes_.heads * sizes_.key_width);
  for (size_t r = 0; r < kPositions.size(); ++r) {
    const std::vector<float> one(q.begin() + static_cast<int64_t>(r * row_values),
                                 q.begin() + static_cast<int64_t>((r + 1) * row_values));
    const std::vector<float> alone = attend(one, {kPositions[r]});
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + static_cast<int64_t>(r * row_values)))
        << "row " << r;
  }
}

TEST_P(AttentionOps, ManyRowsThatShareChunksChangeNoBit) {
  fill(Format::q8_0, {});
  std::vector<int32_t> positions;
  for (size_t r = 0; r < 101; ++r) positions.push_back(kPositions[r % kPositions.size()]);
  const std::vector<float> q = queries(positions.size()), together = attend(q, positions);
  const auto q_values = static_cast<size_t>(sizes_.heads * sizes_.key_width);
  const auto out_values = static_cast<size_t>(sizes_.heads * sizes_.value_width);
  for (const size_t r : {size_t{0}, size_t{7}, size_t{8}, size_t{53}, size_t{100}}) {
    const std::span alone = std::span(q).subspan(r * q_values, q_values);
    const std::span row = std::span(together).subspan(r * out_values, out_values);
    EXPECT_EQ(attend({alone.begin(), alone.end()}, {positions[r]}), std::vector<float>(row.begin(), row.end()))
        << "row " << r;
  }
}

TEST_P(AttentionOps, ThreadsChangeNoBit) {
  fill(Format::f16, {});
  for (const std::vector<int32_t>& positions : {kPositions, std::vector<int32_t>{1299}}) {
    const std::vector<float> q = queries(positions.size()), first = attend(q, positions);
    for (const int threads : {1, 2, 3, 7}) {
      use_threads(threads);
      EXPECT_EQ(attend(q, positions), first) << threads << " threads, " << positions.size() << " rows";
    }
  }
}

TEST_P(AttentionOps, AppendsWhatTheFormatCanHold) {
  for (const auto& [format, steps] : {std::pair(Format::f32, 0.0), std::pair(Format::f16, 0.5 / 1024)}) {
    fill(format, {});
    const std::vector<float> kept = cached(k_bytes_, sizes_.key_width);
    for (size_t i = 0; i < kept.size(); ++i)
      ASSERT_NEAR(kept[i], keys_[i], steps * std::fabs(static_cast<double>(keys_[i])) + steps * 1e-4);
  }
  fill(Format::q8_0, {});
  const std::vector<float> kept = cached(v_bytes_, sizes_.value_width);
  for (size_t block = 0; block < kept.size(); block += 32) {
    double reach = 0;
    for (size_t i = block; i < block + 32; ++i) reach = std::max(reach, std::fabs(static_cast<double>(values_[i])));
    // Half a step, and the largest value may lose what its scale lost when rounded to f16.
    for (size_t i = block; i < block + 32; ++i) ASSERT_NEAR(kept[i], values_[i], reach / 127 * 0.51 + reach / 2048);
  }
}

TEST_P(AttentionOps, RefusesHeadsThatDoNotFillBlocks) {
  EXPECT_FALSE(device_->supports(Format::q8_0, 48));
  Guarded<float> k(48), v(48);
  Guarded<int32_t> zero(1);
  Guarded<uint8_t> bytes(512);
  const Tensor small{Format::q8_0, {1, 4, 48}, {}, bytes.address()};
  try {
    stream().append_kv({.k = floats_tensor(k, {1, 1, 48}),
                        .v = floats_tensor(v, {1, 1, 48}),
                        .slots = ints_tensor(zero, {1}),
                        .positions = ints_tensor(zero, {1}),
                        .k_cache = small,
                        .v_cache = small});
    FAIL() << "a head of 48 values fills no whole blocks of 32";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find("48"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace luce::device
