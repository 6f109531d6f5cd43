#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "device/expert_service.hpp"
#include "experts/expert_source.hpp"

namespace luce::bench {

/// All experts in memory, handed out without counting, policy or leases: what the cache is measured against.
class BareService final : public device::ExpertService, private device::Dispatch {
 public:
  BareService(const experts::ExpertSource& source, device::Device& device) : source_(source) {
    std::vector<std::byte> staging(source.staging_bytes());
    for (int layer = 0; layer < source.layers(); ++layer) {
      const size_t bytes = source.layout(layer).slot_bytes;
      const int experts = source.shape(layer).experts;
      memory_.push_back(device.allocate(bytes * static_cast<size_t>(experts), device::Purpose::expert_slots));
      for (int32_t expert = 0; expert < experts; ++expert)
        source.fetch(layer, expert, memory_.back()->address() + bytes * static_cast<size_t>(expert), staging);
    }
  }

  const device::ExpertShape& shape(int layer) const override { return source_.shape(layer); }
  device::Dispatch& start(const device::Routing& routing) override {
    placed_.clear();
    const experts::SlotLayout& layout = source_.layout(routing.layer);
    const device::Address first = memory_[static_cast<size_t>(routing.layer)]->address();
    for (int i = 0; i < routing.rows * routing.top_k; ++i) {
      const device::Address gate = first + layout.slot_bytes * static_cast<size_t>(routing.ids[i]);
      placed_.push_back({routing.ids[i], gate, gate + layout.up_offset, gate + layout.down_offset});
    }
    given_ = false;
    return *this;
  }
  void end_step() override {}

 private:
  std::span<const device::PlacedExpert> next_wave() override {
    if (given_) return {};
    given_ = true;
    return placed_;
  }

  const experts::ExpertSource& source_;
  std::vector<std::unique_ptr<device::Allocation>> memory_;
  std::vector<device::PlacedExpert> placed_;
  bool given_ = false;
};

}  // namespace luce::bench
