#include "tensor/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/check.hpp"
#include "tensor/block_codec.hpp"
#include "tensor/half.hpp"

namespace luce::tensor {
namespace {

struct Codec {
  Format format;
  void (*decode_all)(std::span<const std::byte>, std::span<float>);
  void (*encode_all)(std::span<const float>, std::span<std::byte>);
};

template <typename Block, int kWeights>
constexpr Codec block_codec(Format format) {
  return {format,
          [](std::span<const std::byte> blocks, std::span<float> values) {
            for (size_t i = 0; i * kWeights < values.size(); ++i) {
              Block block;
              std::memcpy(&block, blocks.data() + i * sizeof(Block), sizeof(Block));
              decode(block, values.data() + i * kWeights);
            }
          },
          [](std::span<const float> values, std::span<std::byte> blocks) {
            for (size_t i = 0; i * kWeights < values.size(); ++i) {
              Block block{};
              encode(values.data() + i * kWeights, block);
              std::memcpy(blocks.data() + i * sizeof(Block), &block, sizeof(Block));
            }
          }};
}

/// A format of one stored number a weight, with how to widen and narrow it.
template <typename Stored, auto widen, auto narrow>
constexpr Codec scalar_codec(Format format) {
  return {format,
          [](std::span<const std::byte> blocks, std::span<float> values) {
            for (size_t i = 0; i < values.size(); ++i) {
              Stored stored;
              std::memcpy(&stored, blocks.data() + i * sizeof(Stored), sizeof(Stored));
              values[i] = widen(stored);
            }
          },
          [](std::span<const float> values, std::span<std::byte> blocks) {
            for (size_t i = 0; i < values.size(); ++i) {
              const Stored stored = narrow(values[i]);
              std::memcpy(blocks.data() + i * sizeof(Stored), &stored, sizeof(Stored));
            }
          }};
}

template <typename Stored>
float widen(Stored stored) {
  return static_cast<float>(stored);
}

/// The nearest value that `Stored` holds.
template <typename Stored>
Stored narrow(float value) {
  if constexpr (std::is_floating_point_v<Stored>) {
    return static_cast<Stored>(value);
  } else {
    using Limits = std::numeric_limits<Stored>;
    const float rounded = std::nearbyint(value);
    if (std::isnan(rounded)) return 0;
    if (rounded <= static_cast<float>(Limits::min())) return Limits::min();
    if (rounded >= static_cast<float>(Limits::max())) return Limits::max();
    return static_cast<Stored>(rounded);
  }
}

template <typename Stored>
constexpr Codec number_codec(Format format) {
  return scalar_codec<Stored, widen<Stored>, narrow<Stored>>(format);
}

constexpr auto kCodecs = std::to_array<Codec>({
    number_codec<float>(Format::f32),
    scalar_codec<uint16_t, f16_to_f32, f32_to_f16>(Format::f16),
    block_codec<BlockQ4_0, 32>(Format::q4_0),
    block_codec<BlockQ4_1, 32>(Format::q4_1),
    block_codec<BlockQ5_0, 32>(Format::q5_0),
    block_codec<BlockQ5_1, 32>(Format::q5_1),
    block_codec<BlockQ8_0, 32>(Format::q8_0),
    block_codec<BlockQ2K, 256>(Format::q2_k),
    block_codec<BlockQ3K, 256>(Format::q3_k),
    block_codec<BlockQ4K, 256>(Format::q4_k),
    block_codec<BlockQ5K, 256>(Format::q5_k),
    block_codec<BlockQ6K, 256>(Format::q6_k),
    block_codec<BlockIq2Xxs, 256>(Format::iq2_xxs),
    block_codec<BlockIq2Xs, 256>(Format::iq2_xs),
    block_codec<BlockIq3Xxs, 256>(Format::iq3_xxs),
    block_codec<BlockIq1S, 256>(Format::iq1_s),
    block_codec<BlockIq4Nl, 32>(Format::iq4_nl),
    block_codec<BlockIq3S, 256>(Format::iq3_s),
    block_codec<BlockIq2S, 256>(Format::iq2_s),
    block_codec<BlockIq4Xs, 256>(Format::iq4_xs),
    number_codec<int8_t>(Format::i8),
    number_codec<int16_t>(Format::i16),
    number_codec<int32_t>(Format::i32),
    number_codec<int64_t>(Format::i64),
    number_codec<double>(Format::f64),
    block_codec<BlockIq1M, 256>(Format::iq1_m),
    scalar_codec<uint16_t, bf16_to_f32, f32_to_bf16>(Format::bf16),
    block_codec<BlockTq1_0, 256>(Format::tq1_0),
    block_codec<BlockTq2_0, 256>(Format::tq2_0),
    block_codec<BlockMxfp4, 32>(Format::mxfp4),
    block_codec<BlockNvfp4, 64>(Format::nvfp4),
});

const Codec& codec_of(Format format) {
  const auto* found = std::ranges::find(kCodecs, format, &Codec::format);
  LUCE_CHECK(found != kCodecs.end(), "a format without a codec");
  return *found;
}

void expect_sizes(Format format, size_t block_bytes, size_t values) {
  LUCE_CHECK(static_cast<int64_t>(block_bytes) == packed_bytes(format, static_cast<int64_t>(values)),
             "blocks and values differ in length");
}

}  // namespace

void dequantise(Format format, std::span<const std::byte> blocks, std::span<float> values) {
  expect_sizes(format, blocks.size(), values.size());
  codec_of(format).decode_all(blocks, values);
}

void quantise(Format format, std::span<const float> values, std::span<std::byte> blocks) {
  expect_sizes(format, blocks.size(), values.size());
  codec_of(format).encode_all(values, blocks);
}

double dot_reference(Format format, std::span<const std::byte> blocks, std::span<const float> x) {
  std::vector<float> weights(x.size());
  dequantise(format, blocks, weights);
  double sum = 0.0;
  for (size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(weights[i]) * static_cast<double>(x[i]);
  return sum;
}

}  // namespace luce::tensor
