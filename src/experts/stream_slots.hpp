#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device/device.hpp"
#include "experts/expert_cache.hpp"

namespace luce::experts {

/// A few slots, each fit for the largest expert, through which experts pass that are computed once and not kept. Not
/// thread-safe: its owner locks around it.
class StreamSlots {
 public:
  /// Throws Error{out_of_memory}.
  StreamSlots(device::Device& device, int slots, size_t slot_bytes);

  /// A free slot, now in state loading.
  std::optional<int> take();
  void loaded(int slot) { finish(slot, SlotState::resident); }
  void load_failed(int slot) { finish(slot, SlotState::failed); }
  /// Its taker is done with it; while bytes are on their way it stays taken until they have come.
  void release(int slot);

  int count() const { return static_cast<int>(slots_.size()); }
  size_t bytes() const { return arena_ ? arena_->bytes() : 0; }
  SlotState state(int slot) const { return slots_[static_cast<size_t>(slot)].state; }
  device::Address address(int slot) const { return arena_->address() + static_cast<size_t>(slot) * slot_bytes_; }

 private:
  struct Slot {
    SlotState state = SlotState::free;
    bool abandoned = false;
  };
  void finish(int slot, SlotState state);

  size_t slot_bytes_ = 0;
  std::unique_ptr<device::Allocation> arena_;
  std::vector<Slot> slots_;
};

}  // namespace luce::experts
