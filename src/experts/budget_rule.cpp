#include "experts/budget_rule.hpp"

#include <algorithm>

namespace luce::experts {
namespace {

constexpr double kSwapQuietSeconds = 60;
constexpr double kStalledPercent = 10;
constexpr double kStalledNoMorePercent = 5;
constexpr double kSecondsBetweenSteps = 10;
constexpr double kQuietSeconds = 30;  // without shortage before slots come back
constexpr double kSecondsBetweenGrown = 5;

}  // namespace

BudgetVerdict BudgetRule::look(const MemorySigns& signs, int64_t slot_bytes) {
  shortage_ = judge(signs);
  if (shortage_ == Shortage::none) {
    grow(signs);
  } else {
    short_seconds_ = signs.now_seconds;
    const int64_t gone = to_give_back(signs, slot_bytes);
    if (gone > 0) target_bytes_ = std::min(target_bytes_, std::max<int64_t>(0, slot_bytes - gone));
  }
  return {target_bytes_, shortage_};
}

Shortage BudgetRule::judge(const MemorySigns& signs) {
  const bool swapping = swap_is_in_use(signs);
  if (memory_is_short(signs)) return Shortage::memory;
  if (swapping) return Shortage::swap;
  return pressure_is_high(signs) ? Shortage::pressure : Shortage::none;
}

bool BudgetRule::memory_is_short(const MemorySigns& signs) const {
  const int64_t mark = shortage_ == Shortage::memory ? settings_.reserve_bytes / 2 : settings_.reserve_bytes / 4;
  return signs.available_bytes < mark;
}

bool BudgetRule::swap_is_in_use(const MemorySigns& signs) {
  // Swap that is there at the first look counts as moved then: nobody knows since when.
  if (signs.swap_moves != swap_moves_ || signs.swapped_bytes != swapped_bytes_) swap_moved_seconds_ = signs.now_seconds;
  swap_moves_ = signs.swap_moves;
  swapped_bytes_ = signs.swapped_bytes;
  return signs.swapped_bytes >= kSwapInUseBytes && signs.now_seconds - swap_moved_seconds_ < kSwapQuietSeconds;
}

bool BudgetRule::pressure_is_high(const MemorySigns& signs) const {
  return signs.stalled_percent >= (shortage_ == Shortage::pressure ? kStalledNoMorePercent : kStalledPercent);
}

int64_t BudgetRule::to_give_back(const MemorySigns& signs, int64_t slot_bytes) {
  switch (shortage_) {
    case Shortage::none: break;
    case Shortage::memory: return settings_.reserve_bytes - signs.available_bytes;
    case Shortage::swap: return for_swap(signs);
    case Shortage::pressure: return for_pressure(signs, slot_bytes);
  }
  return 0;
}

bool BudgetRule::may_step(const MemorySigns& signs) const {
  return signs.now_seconds - stepped_seconds_ >= kSecondsBetweenSteps;
}

/// What is in swap stays there until somebody touches it, so its size alone does not say that slots must go again.
int64_t BudgetRule::for_swap(const MemorySigns& signs) {
  const bool worse = signs.swapped_bytes > swapped_at_step_ || signs.available_bytes < settings_.reserve_bytes;
  if (!worse || !may_step(signs)) return 0;
  stepped_seconds_ = signs.now_seconds;
  swapped_at_step_ = signs.swapped_bytes;
  return std::min(signs.swapped_bytes, settings_.planned_bytes / 8);
}

int64_t BudgetRule::for_pressure(const MemorySigns& signs, int64_t slot_bytes) {
  if (!may_step(signs)) return 0;
  stepped_seconds_ = signs.now_seconds;
  return std::min(settings_.planned_bytes / 16, slot_bytes - settings_.planned_bytes / 2);
}

void BudgetRule::grow(const MemorySigns& signs) {
  const int64_t step = std::min(settings_.planned_bytes / 32 + 1, settings_.planned_bytes - target_bytes_);
  const bool quiet =
      signs.now_seconds - short_seconds_ >= kQuietSeconds && signs.now_seconds - grown_seconds_ >= kSecondsBetweenGrown;
  if (step <= 0 || !quiet || signs.available_bytes - step < settings_.reserve_bytes) return;
  grown_seconds_ = signs.now_seconds;
  target_bytes_ += step;
}

}  // namespace luce::experts
