#include "experts/stream_slots.hpp"

#include "base/check.hpp"

namespace luce::experts {

StreamSlots::StreamSlots(device::Device& device, int slots, size_t slot_bytes)
    : slot_bytes_(slot_bytes), slots_(static_cast<size_t>(slots)) {
  const size_t bytes = static_cast<size_t>(slots) * slot_bytes;
  if (bytes > 0) arena_ = device.allocate(bytes, device::Purpose::staging);
}

std::optional<int> StreamSlots::take() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].state != SlotState::free) continue;
    slots_[i] = {SlotState::loading, false};
    return static_cast<int>(i);
  }
  return std::nullopt;
}

void StreamSlots::finish(int slot, SlotState state) {
  Slot& taken = slots_[static_cast<size_t>(slot)];
  LUCE_CHECK(taken.state == SlotState::loading, "bytes arrived for a stream slot that awaits none");
  taken.state = taken.abandoned ? SlotState::free : state;
}

void StreamSlots::release(int slot) {
  Slot& taken = slots_[static_cast<size_t>(slot)];
  LUCE_CHECK(taken.state != SlotState::free, "a stream slot was released twice");
  if (taken.state == SlotState::loading)
    taken.abandoned = true;
  else
    taken.state = SlotState::free;
}

}  // namespace luce::experts
