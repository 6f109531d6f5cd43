#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "experts/routing_digest.hpp"

namespace luce::experts {

/// How often the unbiased router chose one expert, in tokens, and with which mixing weights.
struct UsageCount {
  uint64_t prompt = 0;
  uint64_t decode = 0;
  double weight = 0;  // sum over both
};

/// Counts by (layer, expert), over all time and over a window of tokens. The window moves in sixteenths of its length,
/// so that it covers the last 15/16 to 16/16 of it. One thread counts, any thread reads.
class Usage {
 public:
  static constexpr int kBuckets = 16;

  Usage(std::vector<int> experts_per_layer, int64_t window_tokens);

  void count(const LayerUse& use);
  /// Moves the window on by the tokens of the step that ended.
  void end_step(int64_t tokens);

  UsageCount total(int layer, int32_t expert) const { return read(total_, layer, expert); }
  UsageCount in_window(int layer, int32_t expert) const { return read(window_, layer, expert); }
  uint64_t tokens() const { return tokens_.load(std::memory_order_relaxed); }
  int layers() const { return static_cast<int>(experts_.size()); }
  const std::vector<int>& experts() const { return experts_; }  // [layers]
  int experts(int layer) const { return experts_[static_cast<size_t>(layer)]; }
  /// Memory for so many (layer, expert) pairs.
  static size_t bytes(size_t cells) { return cells * (2 * sizeof(Cell) + kBuckets * sizeof(BucketCell)); }
  size_t bytes() const { return bytes(total_.size()); }

 private:
  struct Cell {
    std::atomic<uint64_t> prompt{0};
    std::atomic<uint64_t> decode{0};
    std::atomic<uint64_t> weight_millionths{0};
  };
  struct BucketCell {
    uint32_t prompt = 0;
    uint32_t decode = 0;
    uint64_t weight_millionths = 0;
  };

  size_t cell(int layer, int32_t expert) const {
    return first_cell_[static_cast<size_t>(layer)] + static_cast<size_t>(expert);
  }
  UsageCount read(const std::vector<Cell>& cells, int layer, int32_t expert) const;
  void next_bucket();

  std::vector<int> experts_;
  std::vector<size_t> first_cell_;
  std::vector<Cell> total_, window_;
  std::vector<BucketCell> buckets_;  // [kBuckets, cells]
  size_t bucket_ = 0;
  int64_t bucket_tokens_ = 0;  // length of one
  int64_t bucket_filled_ = 0;
  std::atomic<uint64_t> tokens_{0};
};

}  // namespace luce::experts
