#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace luce::experts {

/// What one layer asked for lately, and what it has.
struct LayerDemand {
  size_t size_class = 0;   // bytes of a slot; slots move within one class only
  int slots = 0;           // 0 in a dense layer
  int least_slots = 1;     // it keeps at least these
  int most_slots = 0;      // its experts
  double near_misses = 0;  // decaying count of misses that `extra_slots` more would have spared
  int extra_slots = 1;

  /// What one more slot is worth.
  double worth() const { return near_misses / extra_slots; }
};

struct SlotMove {
  int from = 0;
  int to = 0;
};

/// At most one move per size class: from the layer in which a slot is worth least and that may give, to the one in
/// which it is worth most and that may take, if the difference is beyond chance and a quarter.
std::vector<SlotMove> balance_slots(std::span<const LayerDemand> layers);

}  // namespace luce::experts
