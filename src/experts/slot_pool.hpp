#pragma once

#include <memory>
#include <vector>

#include "device/device.hpp"
#include "experts/expert_source.hpp"

namespace luce::experts {

/// Device memory of all expert slots, allocated once: one arena for each size class, and within it the slots of a
/// layer side by side. Slots are numbered through all layers, those of a layer in a row.
class SlotPool {
 public:
  /// `slots[layer]` slots of the source's size for that layer. Throws Error{out_of_memory}.
  SlotPool(device::Device& device, const ExpertSource& source, const std::vector<int>& slots);

  int total() const { return static_cast<int>(addresses_.size()); }
  int size_classes() const { return static_cast<int>(arenas_.size()); }
  size_t bytes() const;
  device::Address address(int slot) const { return addresses_[static_cast<size_t>(slot)]; }

 private:
  std::vector<std::unique_ptr<device::Allocation>> arenas_;
  std::vector<device::Address> addresses_;
};

}  // namespace luce::experts
