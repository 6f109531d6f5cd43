#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/expert_service.hpp"

namespace luce::experts {

/// What one step asks of one expert of a layer.
struct UsedExpert {
  int32_t expert = 0;
  int32_t decode_rows = 0;
  int32_t prompt_rows = 0;
  float decode_weight = 0.0F;  // sum of mixing weights
  float prompt_weight = 0.0F;
};

/// One layer's routing with every expert named once, in order of first use (rows first, then router order).
struct LayerUse {
  int layer = 0;
  int decode_rows = 0;
  int prompt_rows = 0;
  std::span<const UsedExpert> experts;
};

/// Turns routings into LayerUse without allocating.
class RoutingDigest {
 public:
  explicit RoutingDigest(int max_experts);

  /// Valid until the next call. Throws Error{device} for an expert id outside 0 to experts - 1.
  LayerUse digest(const device::Routing& routing, int experts);

 private:
  std::vector<int32_t> index_;  // expert -> position in used_, or -1
  std::vector<UsedExpert> used_;
};

}  // namespace luce::experts
