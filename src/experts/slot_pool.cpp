#include "experts/slot_pool.hpp"

#include <map>

namespace luce::experts {

SlotPool::SlotPool(device::Device& device, const ExpertSource& source, const std::vector<int>& slots) {
  std::map<size_t, std::vector<int>> classes;  // slots by their size
  int next = 0;
  for (size_t layer = 0; layer < slots.size(); ++layer)
    for (int i = 0; i < slots[layer]; ++i) classes[source.layout(static_cast<int>(layer)).slot_bytes].push_back(next++);
  addresses_.resize(static_cast<size_t>(next));
  for (auto& [slot_bytes, members] : classes) {
    Arena arena{slot_bytes, std::move(members), 0, 0, nullptr};
    arena.kept = static_cast<int>(arena.slots.size());
    arena.memory = device.allocate(arena.slots.size() * slot_bytes, device::Purpose::expert_slots);
    arena.backed_bytes = arena.memory->bytes();
    device::Address at = arena.memory->address();
    for (const int slot : arena.slots) {
      addresses_[static_cast<size_t>(slot)] = at;
      at += slot_bytes;
    }
    arenas_.push_back(std::move(arena));
  }
}

void SlotPool::keep(int size_class, int slots) {
  Arena& arena = arenas_[static_cast<size_t>(size_class)];
  arena.backed_bytes = arena.memory->keep(static_cast<size_t>(slots) * arena.slot_bytes);
  arena.kept = slots;
}

int SlotPool::kept() const {
  int sum = 0;
  for (const Arena& arena : arenas_) sum += arena.kept;
  return sum;
}

size_t SlotPool::bytes() const {
  size_t sum = 0;
  for (const Arena& arena : arenas_) sum += arena.backed_bytes;
  return sum;
}

}  // namespace luce::experts
