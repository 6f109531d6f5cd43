// Slots that change their layer, or leave service and come back.
#include <algorithm>

#include "base/check.hpp"
#include "experts/expert_cache.hpp"

namespace luce::experts {

bool ExpertCache::move_slot(int from, int to) {
  const auto slot = take_slot(from);
  if (slot) give_slot(to, *slot);
  return slot.has_value();
}

std::optional<int> ExpertCache::take_slot(int layer_index) {
  Layer& layer = layers_[static_cast<size_t>(layer_index)];
  if (layer.slots.size() < 2) return std::nullopt;
  if (layer.free.empty()) {
    find_candidates(layer, layer.last_step);
    const auto victim = choose_victim(layer.log.up_to_date(), candidates_, 0, std::nullopt);
    if (!victim) return std::nullopt;
    evict(find(layer_index, *victim));
  }
  const int slot = layer.free.back();
  layer.free.pop_back();
  std::erase(layer.slots, slot);
  slots_[static_cast<size_t>(slot)].layer = kNoLayer;
  return slot;
}

void ExpertCache::give_slot(int layer_index, int slot) {
  LUCE_CHECK(layer_of(slot) == kNoLayer, "a slot that a layer has was given to another");
  Layer& layer = layers_[static_cast<size_t>(layer_index)];
  slots_[static_cast<size_t>(slot)].layer = layer_index;
  layer.slots.push_back(slot);
  layer.free.push_back(slot);
}

bool ExpertCache::can_relocate(int slot) const {
  const Slot& held = slots_[static_cast<size_t>(slot)];
  return held.state == SlotState::free || (held.state == SlotState::resident && held.leases == 0);
}

void ExpertCache::relocate(int from, int to) {
  LUCE_CHECK(can_relocate(from) && layer_of(to) == kNoLayer, "a slot in use was relocated");
  Slot& source = slots_[static_cast<size_t>(from)];
  Layer& layer = layers_[static_cast<size_t>(source.layer)];
  std::replace(layer.slots.begin(), layer.slots.end(), from, to);
  std::replace(layer.free.begin(), layer.free.end(), from, to);
  if (source.expert >= 0) layer.slot_of[static_cast<size_t>(source.expert)] = to;
  slots_[static_cast<size_t>(to)] = source;
  source = {};
}

}  // namespace luce::experts
