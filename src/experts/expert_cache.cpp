#include "experts/expert_cache.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace luce::experts {

using Field = CounterTable::Field;

namespace {
constexpr double kSeedUses = 64;  // of all experts of a layer together: 16 tokens at top-4
}

ExpertCache::ExpertCache(Shape shape, const PolicyFactory& policy, CounterTable& counters) : counters_(counters) {
  LUCE_CHECK(shape.experts.size() == shape.slots.size(), "slots for other layers than there are");
  int most_experts = 0;
  for (size_t i = 0; i < shape.experts.size(); ++i) {
    const int experts = shape.experts[i], slots = shape.slots[i];
    LUCE_CHECK(experts == 0 ? slots == 0 : slots >= 1 && slots <= experts, "slots of a layer beyond its experts");
    Layer layer;
    const auto first_slot = static_cast<int>(slots_.size());
    layer.slot_of.assign(static_cast<size_t>(experts), kNoSlot);
    layer.last_step.assign(static_cast<size_t>(experts), 0);
    layer.last_decode_step.assign(static_cast<size_t>(experts), 0);
    layer.evicted.assign(static_cast<size_t>(experts), 0);
    layer.log = UseLog(policy(static_cast<int>(i), experts));
    slots_.resize(slots_.size() + static_cast<size_t>(slots));
    for (int slot = first_slot; slot < first_slot + slots; ++slot) {
      slots_[static_cast<size_t>(slot)].layer = static_cast<int>(i);
      layer.slots.push_back(slot);
    }
    layer.free.assign(layer.slots.rbegin(), layer.slots.rend());
    layers_.push_back(std::move(layer));
    most_experts = std::max(most_experts, experts);
  }
  candidates_.reserve(static_cast<size_t>(most_experts));
}

void ExpertCache::seed(int layer, std::span<const double> counts) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (total <= 0.0) return;
  std::vector<double> uses(counts.begin(), counts.end());
  for (double& use : uses) use *= kSeedUses / total;
  layers_[static_cast<size_t>(layer)].log.up_to_date().seed(uses);
}

void ExpertCache::begin_step(const LayerUse& use, const LayerUse& wanted) {
  Layer& layer = layers_[static_cast<size_t>(use.layer)];
  ++layer.step;
  layer.log.add(wanted);
  for (const UsedExpert& used : use.experts) {
    layer.last_step[static_cast<size_t>(used.expert)] = layer.step;
    if (used.decode_rows > 0) layer.last_decode_step[static_cast<size_t>(used.expert)] = layer.step;
    count_access(use, used);
  }
}

void ExpertCache::count_access(const LayerUse& use, const UsedExpert& used) {
  const int slot = find(use.layer, used.expert);
  const bool hit = slot != kNoSlot && state(slot) == SlotState::resident;
  if (hit) slots_[static_cast<size_t>(slot)].reused = true;
  counters_.add(use.layer, hit ? Field::hits : Field::misses);
  if (used.prompt_rows > 0) counters_.add(use.layer, hit ? Field::prompt_hits : Field::prompt_misses);
  if (used.decode_rows == 0) return;
  counters_.add(use.layer, hit ? Field::decode_hits : Field::decode_misses);
  if (!hit && lately_evicted(layers_[static_cast<size_t>(use.layer)], used.expert))
    counters_.add(use.layer, Field::near_misses);
}

/// Whether it would still be here with an eighth more slots, were the last evicted the first to stay.
bool ExpertCache::lately_evicted(const Layer& layer, int32_t expert) {
  const int64_t eviction = layer.evicted[static_cast<size_t>(expert)];
  return eviction > 0 &&
         layer.evictions - eviction < static_cast<int64_t>(extra_slots(static_cast<int>(layer.slots.size())));
}

Lease ExpertCache::lease(int slot) {
  LUCE_CHECK(state(slot) == SlotState::resident || state(slot) == SlotState::loading, "lease on an empty slot");
  ++slots_[static_cast<size_t>(slot)].leases;
  return {this, slot};
}

void ExpertCache::unlease(int slot) {
  Slot& pinned = slots_[static_cast<size_t>(slot)];
  LUCE_CHECK(pinned.leases > 0, "a lease was released twice");
  if (--pinned.leases == 0 && pinned.state == SlotState::failed) set_free(slot);
}

std::optional<int> ExpertCache::admit(int layer_index, int32_t expert) {
  if (const auto slot = admit_free(layer_index, expert)) return slot;
  Layer& layer = layers_[static_cast<size_t>(layer_index)];
  const bool prompt =
      layer.log.policy().separates_prompts() && layer.last_decode_step[static_cast<size_t>(expert)] < layer.step;
  find_candidates(layer, prompt ? layer.last_decode_step : layer.last_step);
  const auto gate = strict_ ? layer.log.policy().gate() : std::nullopt;
  const auto victim =
      choose_victim(layer.log.up_to_date(), candidates_, expert, prompt ? std::max(gate, std::optional(1.0)) : gate);
  if (!victim) return std::nullopt;
  evict(find(layer_index, *victim));
  return occupy(layer_index, expert);
}

/// Residents without a lease that were not used in the current step, by this record of last uses.
void ExpertCache::find_candidates(const Layer& layer, const std::vector<int64_t>& last_uses) {
  candidates_.clear();
  for (const int slot : layer.slots) {
    const Slot& held = slots_[static_cast<size_t>(slot)];
    if (held.state != SlotState::resident || held.leases > 0) continue;
    const auto expert = static_cast<size_t>(held.expert);
    if (last_uses[expert] < layer.step || layer.step == 0)
      candidates_.push_back({held.expert, layer.last_step[expert]});
  }
}

std::optional<int> ExpertCache::admit_free(int layer, int32_t expert) {
  LUCE_CHECK(find(layer, expert) == kNoSlot, "an expert was admitted twice");
  if (free_slots(layer) == 0) return std::nullopt;
  return occupy(layer, expert);
}

std::optional<int> ExpertCache::admit_ahead(int layer_index, int32_t expert) {
  if (const auto slot = admit_free(layer_index, expert)) return slot;
  Layer& layer = layers_[static_cast<size_t>(layer_index)];
  find_candidates(layer, layer.last_step);
  const auto victim = choose_victim(layer.log.up_to_date(), candidates_, expert, 1.0);
  if (!victim) return std::nullopt;
  evict(find(layer_index, *victim));
  return occupy(layer_index, expert);
}

int ExpertCache::occupy(int layer_index, int32_t expert) {
  Layer& layer = layers_[static_cast<size_t>(layer_index)];
  const int slot = layer.free.back();
  layer.free.pop_back();
  Slot& held = slots_[static_cast<size_t>(slot)];
  held.expert = expert;
  held.state = SlotState::loading;
  held.reused = false;
  layer.slot_of[static_cast<size_t>(expert)] = slot;
  return slot;
}

void ExpertCache::loaded(int slot) {
  LUCE_CHECK(state(slot) == SlotState::loading, "bytes arrived for a slot that awaits none");
  slots_[static_cast<size_t>(slot)].state = SlotState::resident;
  ++resident_;
}

void ExpertCache::load_failed(int slot) {
  LUCE_CHECK(state(slot) == SlotState::loading, "a fetch failed for a slot that awaits none");
  slots_[static_cast<size_t>(slot)].state = SlotState::failed;
  if (slots_[static_cast<size_t>(slot)].leases == 0) set_free(slot);
}

void ExpertCache::evict(int slot) {
  const Slot& held = slots_[static_cast<size_t>(slot)];
  LUCE_CHECK(held.leases == 0 && held.state == SlotState::resident, "a slot in use was evicted");
  counters_.add(held.layer, Field::evictions);
  if (!held.reused) counters_.add(held.layer, Field::never_reused);
  --resident_;
  Layer& layer = layers_[static_cast<size_t>(held.layer)];
  layer.evicted[static_cast<size_t>(held.expert)] = ++layer.evictions;
  set_free(slot);
}

void ExpertCache::set_free(int slot) {
  Slot& held = slots_[static_cast<size_t>(slot)];
  Layer& layer = layers_[static_cast<size_t>(held.layer)];
  layer.slot_of[static_cast<size_t>(held.expert)] = kNoSlot;
  held.expert = -1;
  held.state = SlotState::free;
  layer.free.push_back(slot);
}

}  // namespace luce::experts
