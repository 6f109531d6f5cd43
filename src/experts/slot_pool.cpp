#include "experts/slot_pool.hpp"

#include <map>

namespace luce::experts {
namespace {

struct Arena {
  size_t bytes = 0;
  device::Address next = 0;
};

}  // namespace

SlotPool::SlotPool(device::Device& device, const ExpertSource& source, const std::vector<int>& slots) {
  std::map<size_t, Arena> classes;  // by slot size
  const auto slot_bytes = [&source](size_t layer) { return source.layout(static_cast<int>(layer)).slot_bytes; };
  for (size_t layer = 0; layer < slots.size(); ++layer)
    if (slots[layer] > 0) classes[slot_bytes(layer)].bytes += static_cast<size_t>(slots[layer]) * slot_bytes(layer);
  for (auto& [size, arena] : classes) {
    arenas_.push_back(device.allocate(arena.bytes, device::Purpose::expert_slots));
    arena.next = arenas_.back()->address();
  }
  for (size_t layer = 0; layer < slots.size(); ++layer)
    for (int i = 0; i < slots[layer]; ++i) {
      Arena& arena = classes[slot_bytes(layer)];
      addresses_.push_back(arena.next);
      arena.next += slot_bytes(layer);
    }
}

size_t SlotPool::bytes() const {
  size_t sum = 0;
  for (const auto& arena : arenas_) sum += arena->bytes();
  return sum;
}

}  // namespace luce::experts
