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
  std::span<const int32_t> ids = {};               // [rows, top_k], in router order, kNoExpert behind them
  std::span<const float> weights = {};             // [rows, top_k], mixing weights; empty: not known
  std::span<const device::RowClass> classes = {};  // [rows]
  int absent = 0;                                  // places with kNoExpert

  int rows() const { return static_cast<int>(classes.size()); }
  bool is_decode(int row) const { return classes[static_cast<size_t>(row)] == device::RowClass::decode; }
  /// The experts of one row.
  std::span<const int32_t> chosen(int row) const {
    const size_t top_k = ids.size() / classes.size();
    std::span<const int32_t> row_ids = ids.subspan(static_cast<size_t>(row) * top_k, top_k);
    while (!row_ids.empty() && row_ids.back() == device::kNoExpert) row_ids = row_ids.first(row_ids.size() - 1);
    return row_ids;
  }
  /// The mixing weight of the k-th of them; 1 / top_k where weights are not known.
  float weight(int row, size_t k) const {
    const size_t top_k = ids.size() / classes.size();
    return weights.empty() ? 1.0F / static_cast<float>(top_k) : weights[static_cast<size_t>(row) * top_k + k];
  }
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
