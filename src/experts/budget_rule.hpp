#pragma once

#include <cstdint>
#include <optional>

namespace luce::experts {

/// What the system says about memory at one look.
struct MemorySigns {
  double now_seconds = 0;  // of any clock that only goes forward
  int64_t available_bytes = 0;
  int64_t swapped_bytes = 0;   // ours
  int64_t swap_moves = 0;      // pages, ever growing
  double stalled_percent = 0;  // of the last ten seconds
};

/// What the rule decides about: bytes of expert slots, and what the rest of the machine was promised.
struct BudgetSettings {
  int64_t planned_bytes = 0;  // of slots; 0 in a dense model
  int64_t reserve_bytes = 0;  // to be left available
};

enum class Shortage { none, memory, swap, pressure };

struct BudgetVerdict {
  int64_t slot_bytes = 0;
  Shortage shortage = Shortage::none;
};

/// Decides how many bytes of slots there may be; docs/decisions/0013 has the rule. Pure: no clock, no I/O.
class BudgetRule {
 public:
  explicit BudgetRule(const BudgetSettings& settings) : settings_(settings), target_bytes_(settings.planned_bytes) {}

  /// `slot_bytes` is what slots take now; it may lag behind what earlier looks wanted.
  BudgetVerdict look(const MemorySigns& signs, int64_t slot_bytes);

  static constexpr int64_t kSwapInUseBytes = int64_t{16} << 20;

 private:
  bool memory_is_short(const MemorySigns& signs) const;
  bool swap_is_in_use(const MemorySigns& signs);
  bool pressure_is_high(const MemorySigns& signs) const;
  Shortage judge(const MemorySigns& signs);
  int64_t to_give_back(const MemorySigns& signs, int64_t slot_bytes);
  int64_t for_swap(const MemorySigns& signs);
  int64_t for_pressure(const MemorySigns& signs, int64_t slot_bytes);
  void grow(const MemorySigns& signs);
  bool may_step(const MemorySigns& signs) const;

  BudgetSettings settings_;
  int64_t target_bytes_;
  Shortage shortage_ = Shortage::none;
  std::optional<int64_t> swap_moves_, swapped_bytes_;  // at the last look
  double swap_moved_seconds_ = 0;                      // when pages last moved
  int64_t swapped_at_step_ = 0;                        // when slots last went for swap
  double stepped_seconds_ = -1e9;                      // when slots last went for swap or pressure
  double short_seconds_ = -1e9;                        // when memory was last short
  double grown_seconds_ = -1e9;
};

}  // namespace luce::experts
