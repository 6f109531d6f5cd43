#include "experts/slot_balancer.hpp"

#include <algorithm>

namespace luce::experts {
namespace {
constexpr int kTokensKept = 3;  // with fewer slots a layer forgets between tokens, and each one less costs more
constexpr double kKept = 0.95;  // of what was counted before, at each look: a half-life of about 900 tokens
}  // namespace

SlotBalancer::SlotBalancer(ExpertCache& cache, const CounterTable& counters, std::vector<size_t> size_classes,
                           std::vector<int> experts)
    : cache_(cache), counters_(counters), misses_before_(size_classes.size()) {
  for (size_t i = 0; i < size_classes.size(); ++i) {
    const int slots = cache.slots(static_cast<int>(i));
    layers_.push_back({size_classes[i], slots, slots, experts[i], 0.0, 1});
    planned_slots_.push_back(slots);
  }
}

void SlotBalancer::replan() {
  for (size_t i = 0; i < planned_slots_.size(); ++i) planned_slots_[i] = cache_.slots(static_cast<int>(i));
}

int SlotBalancer::advance(int64_t tokens, int top_k) {
  tokens_ += tokens;
  if (tokens_ < kTokensBetweenMoves) return 0;
  tokens_ = 0;
  update_demand(top_k);
  int moved = 0;
  for (const SlotMove& move : balance_slots(layers_)) moved += cache_.move_slot(move.from, move.to) ? 1 : 0;
  moved_ += moved;
  return moved;
}

void SlotBalancer::update_demand(int top_k) {
  for (size_t i = 0; i < layers_.size(); ++i) {
    const auto layer = static_cast<int>(i);
    const uint64_t misses = counters_.of_layer(layer).near_misses;
    layers_[i].near_misses = kKept * layers_[i].near_misses + static_cast<double>(misses - misses_before_[i]);
    layers_[i].slots = cache_.slots(layer);
    layers_[i].extra_slots = ExpertCache::extra_slots(layers_[i].slots);
    misses_before_[i] = misses;
    layers_[i].least_slots = std::min(planned_slots_[i], std::max(planned_slots_[i] / 2, kTokensKept * top_k));
  }
}

}  // namespace luce::experts
