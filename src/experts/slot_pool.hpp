#pragma once

#include <memory>
#include <vector>

#include "device/device.hpp"
#include "experts/expert_source.hpp"

namespace luce::experts {

/// Device memory of all expert slots, one arena for each size class. Slots are numbered through all layers, those of a
/// layer in a row; in an arena they lie in the order of their numbers. An arena shrinks and grows at its end.
class SlotPool {
 public:
  /// `slots[layer]` slots of the source's size for that layer. Throws Error{out_of_memory}.
  SlotPool(device::Device& device, const ExpertSource& source, const std::vector<int>& slots);

  int total() const { return static_cast<int>(addresses_.size()); }
  device::Address address(int slot) const { return addresses_[static_cast<size_t>(slot)]; }

  int size_classes() const { return static_cast<int>(arenas_.size()); }
  size_t slot_bytes(int size_class) const { return arena(size_class).slot_bytes; }
  /// The slots of a class in the order in which they lie.
  const std::vector<int>& slots(int size_class) const { return arena(size_class).slots; }
  /// How many of them, from the first on, have memory.
  int kept(int size_class) const { return arena(size_class).kept; }
  /// Gives the memory behind the first `slots` back, or takes it anew. Throws Error{out_of_memory}.
  void keep(int size_class, int slots);

  /// Slots that have memory, and its bytes.
  int kept() const;
  size_t bytes() const;

 private:
  struct Arena {
    size_t slot_bytes = 0;
    std::vector<int> slots;
    int kept = 0;
    size_t backed_bytes = 0;
    std::unique_ptr<device::Allocation> memory;
  };
  const Arena& arena(int size_class) const { return arenas_[static_cast<size_t>(size_class)]; }

  std::vector<Arena> arenas_;
  std::vector<device::Address> addresses_;
};

}  // namespace luce::experts
