#include "experts/decayed_counts.hpp"

#include <cmath>

namespace luce::experts {
namespace {
constexpr size_t kTable = 1024;  // longer gaps are rare
}

DecayedCounts::DecayedCounts(int experts, double half_life)
    : half_life_(half_life), cells_(static_cast<size_t>(experts)) {
  for (size_t ticks = 0; ticks < kTable; ++ticks)
    decay_table_.push_back(std::exp2(-static_cast<double>(ticks) / half_life));
}

double DecayedCounts::decay(int64_t ticks) const {
  return static_cast<size_t>(ticks) < kTable ? decay_table_[static_cast<size_t>(ticks)]
                                             : std::exp2(-static_cast<double>(ticks) / half_life_);
}

void DecayedCounts::add(int32_t expert, int64_t now, double amount) {
  Cell& cell = cells_[static_cast<size_t>(expert)];
  cell.count = cell.count * decay(now - cell.last) + amount;
  cell.last = now;
}

double DecayedCounts::at(int32_t expert, int64_t now) const {
  const Cell& cell = cells_[static_cast<size_t>(expert)];
  return cell.count * decay(now - cell.last);
}

}  // namespace luce::experts
