#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "synthetic/random.hpp"
#include "synthetic/tensor_list.hpp"

namespace luce::synthetic {

/// Makes tensor data faster than quantising it: for each format and spread a pool of quantised chunks is made once,
/// then rows are put together from chunks drawn at random, so that no two rows are alike though their parts recur.
class RandomBlocks {
 public:
  explicit RandomBlocks(uint64_t seed) : random_(seed) {}

  /// Small tensors and vectors: every value is drawn by itself.
  std::vector<std::byte> values(const PlannedTensor& tensor);
  /// Fills `out`, a whole number of blocks of that tensor's format, from the pool.
  void fill(const PlannedTensor& tensor, std::span<std::byte> out);

 private:
  struct Pool {
    size_t chunk_bytes = 0;
    size_t chunks = 0;
    std::vector<std::byte> bytes;
  };
  const Pool& pool_for(const PlannedTensor& tensor);
  float draw(const Distribution& distribution);

  Random random_;
  std::map<std::pair<tensor::Format, float>, Pool> pools_;
};

}  // namespace luce::synthetic
