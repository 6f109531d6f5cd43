#pragma once

#include <cstdint>

#include "experts/usage.hpp"

namespace luce::experts {

/// How evenly traffic uses the experts, prompts and decoding together.
struct TrafficShape {
  uint64_t rows = 0;           // of a layer, in the window
  double spread = 1;           // experts that would share the window's uses evenly (2^entropy), as a share of all
  double spread_of_all = 1;    // the same for all uses since the start
  double largest_share = 0;    // of the window's rows, of one expert in one layer
  int largest_layer = 0;       // where that is
  int32_t largest_expert = 0;  // and which
};

/// Means over the layers that have experts; `top_k` experts serve a row.
TrafficShape traffic_shape(const Usage& usage, int top_k);

/// A trouble that began stays until its sign is gone by a margin.
class TrafficJudge {
 public:
  /// One expert serves four of five rows of its layer, and at least four times as many as it would of evenly spread
  /// traffic.
  bool one_expert_takes_more(const TrafficShape& shape, double even_share);
  /// The window's spread is below 0.6, or below 0.85 of what all traffic's is. Mixed traffic of five real models has
  /// 0.74 to 0.96, single texts 0.42 to 0.82 and, of the same model, 0.6 to 0.86 of the mix.
  bool topic_is_narrow(const TrafficShape& shape);

 private:
  bool one_expert_ = false;
  bool narrow_ = false;
};

}  // namespace luce::experts
