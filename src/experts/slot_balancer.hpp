#pragma once

#include <vector>

#include "experts/expert_cache.hpp"
#include "experts/slot_balance.hpp"

namespace luce::experts {

/// Moves slots to the layers in which they spare most misses of decoding, slowly: at most one per size class in so many
/// tokens, each layer keeping at least half of what it was planned and no fewer than three tokens need.
class SlotBalancer {
 public:
  /// `size_classes` is [layers], in bytes of a slot. The cache and the counters must outlive this.
  SlotBalancer(ExpertCache& cache, const CounterTable& counters, std::vector<size_t> size_classes,
               std::vector<int> experts);

  /// Tells that tokens of `top_k` experts have passed; now and then moves slots. Returns how many.
  int advance(int64_t tokens, int top_k);
  int64_t moved() const { return moved_; }
  /// The slots that layers have now are what they were planned.
  void replan();

  static constexpr int64_t kTokensBetweenMoves = 64;

 private:
  void update_demand(int top_k);

  ExpertCache& cache_;
  const CounterTable& counters_;
  std::vector<LayerDemand> layers_;
  std::vector<int> planned_slots_;       // [layers]
  std::vector<uint64_t> misses_before_;  // [layers]
  int64_t tokens_ = 0;                   // since the last look
  int64_t moved_ = 0;
};

}  // namespace luce::experts
