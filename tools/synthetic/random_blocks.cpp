#include "synthetic/random_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tensor/reference.hpp"

namespace luce::synthetic {
namespace {

constexpr int64_t kPoolWeights = int64_t{1} << 16;
constexpr int64_t kLeastChunkWeights = 32;

/// x with log(1 + exp(x)) = y.
double inverse_softplus(double y) { return y + std::log(-std::expm1(-y)); }

/// log-uniform between two positive ends.
double between(double low, double high, double share) { return low * std::pow(high / low, share); }

}  // namespace

std::vector<std::byte> RandomBlocks::values(const PlannedTensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.spec.shape.elements()));
  std::ranges::generate(values, [&] { return draw(tensor.values); });
  std::vector<std::byte> bytes(gguf::tensor_bytes(tensor.spec));
  tensor::quantise(tensor.spec.format, values, bytes);
  return bytes;
}

void RandomBlocks::fill(const PlannedTensor& tensor, std::span<std::byte> out) {
  const Pool& pool = pool_for(tensor);
  while (!out.empty()) {
    const size_t bytes = std::min(pool.chunk_bytes, out.size());
    std::memcpy(out.data(), pool.bytes.data() + random_.below(pool.chunks) * pool.chunk_bytes, bytes);
    out = out.subspan(bytes);
  }
}

const RandomBlocks::Pool& RandomBlocks::pool_for(const PlannedTensor& tensor) {
  const tensor::Format format = tensor.spec.format;
  Pool& pool = pools_[{format, tensor.values.sigma}];
  if (!pool.bytes.empty()) return pool;
  const int64_t chunk_weights = std::max(tensor::info(format).block_elements, kLeastChunkWeights);
  pool.chunk_bytes = static_cast<size_t>(tensor::packed_bytes(format, chunk_weights));
  pool.chunks = static_cast<size_t>(kPoolWeights / chunk_weights);
  std::vector<float> values(static_cast<size_t>(kPoolWeights));
  std::ranges::generate(values, [&] { return draw(tensor.values); });
  pool.bytes.resize(pool.chunks * pool.chunk_bytes);
  tensor::quantise(format, values, pool.bytes);
  return pool;
}

float RandomBlocks::draw(const Distribution& distribution) {
  switch (distribution.kind) {
    // The ranges that gated delta networks are initialised with.
    case Distribution::Kind::decay_rates: return static_cast<float>(-between(1.0, 16.0, random_.uniform()));
    case Distribution::Kind::time_steps:
      return static_cast<float>(inverse_softplus(between(0.001, 0.1, random_.uniform())));
    case Distribution::Kind::normal: break;
  }
  return distribution.mean + distribution.sigma * static_cast<float>(random_.normal());
}

}  // namespace luce::synthetic
