#pragma once

#include <vector>

#include "experts/expert_tier.hpp"

namespace luce::experts {

/// Serves one layer's routing in waves: first what is resident, then what arrives, in the order of arrival. Misses get
/// slots while the cache admits them; the rest pass through the stream slots, so that a prompt that uses more experts
/// than a layer has slots evicts nothing it needs itself.
class WaveDispatch final : public device::Dispatch {
 public:
  WaveDispatch(ExpertTier& tier, int max_experts);
  ~WaveDispatch() override { close(); }

  /// Counts the use in the cache, pins what is resident and starts fetches. The policy is told of `wanted`, which
  /// differs from the use where a bias changed it.
  void open(const LayerUse& use, const LayerUse& wanted);
  void open(const LayerUse& use) { open(use, use); }
  /// Lets go of everything; fetches under way end by themselves.
  void close();
  std::span<const device::PlacedExpert> next_wave() override;

 private:
  /// An expert with its slot, pinned until it is let go.
  struct Held {
    int32_t expert = 0;
    int slot = 0;
    Lease lease;  // not held in a stream slot
  };
  using Lock = std::unique_lock<std::mutex>;

  bool claim(const Lock& lock, int32_t expert);
  void start_streams(const Lock& lock);
  void let_go(const Lock& lock, std::vector<Held>& held);
  void close(const Lock& lock);
  void wait_for_arrival(Lock& lock);
  bool arrived(const Lock& lock) const;
  void collect_arrived(const Lock& lock);
  std::span<const device::PlacedExpert> place_wave();

  ExpertTier& tier_;
  int layer_ = 0;
  std::vector<Held> wave_;        // running now
  std::vector<Held> ready_;       // resident, not yet handed out
  std::vector<Held> pending_;     // being fetched
  std::vector<int32_t> streams_;  // waiting for a stream slot, last first
  std::vector<device::PlacedExpert> placed_;
};

}  // namespace luce::experts
