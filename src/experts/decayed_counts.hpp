#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace luce::experts {

/// For each expert of a layer a count that halves every `half_life` ticks, and when it last grew. Nothing is touched
/// as time passes; values are brought up to now when they are read.
class DecayedCounts {
 public:
  DecayedCounts(int experts, double half_life);

  void add(int32_t expert, int64_t now, double amount = 1.0);
  double at(int32_t expert, int64_t now) const;
  /// The count as it stood at the last use.
  double at_last(int32_t expert) const { return cells_[static_cast<size_t>(expert)].count; }
  /// 0 for never.
  int64_t last(int32_t expert) const { return cells_[static_cast<size_t>(expert)].last; }

 private:
  struct Cell {
    double count = 0.0;  // at `last`
    int64_t last = 0;
  };
  double decay(int64_t ticks) const;

  double half_life_;
  std::vector<double> decay_table_;  // [ticks]
  std::vector<Cell> cells_;
};

}  // namespace luce::experts
