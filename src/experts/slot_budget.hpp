#pragma once

#include <mutex>
#include <vector>

#include "experts/expert_tier.hpp"

namespace luce::experts {

/// Takes slots out of service, whose memory goes back to the system, and puts them back. Layers shrink and grow in
/// proportion to what they were planned; each keeps one slot.
class SlotBudget {
 public:
  /// `planned` is the slots of each layer [layers]. The tier must outlive this.
  SlotBudget(ExpertTier& tier, std::vector<int> planned);

  /// Moves the bytes of all slots in service towards `bytes`, at most to what was planned. Slots in use stay: what
  /// could not go now may go at a later call. May run beside steps on another thread. Throws Error{out_of_memory}
  /// when memory for one more slot cannot be had; those before it are in service.
  void resize(size_t bytes);

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct SizeClass {
    std::vector<int> layers;
    int planned = 0;
  };

  void shrink(int size_class, int slots);
  void grow(int size_class, int slots);
  bool retire_last(const Lock& lock, int size_class);
  std::optional<int> free_a_slot(const Lock& lock, int size_class);
  void move(const Lock& lock, int from, int to);
  double share(const Lock& lock, int layer);

  ExpertTier& tier_;
  const std::vector<int> planned_;
  std::vector<SizeClass> classes_;
  std::vector<std::byte> bounce_;
  std::mutex resizing_;
};

}  // namespace luce::experts
