#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace luce::experts {

/// Preference for resident experts, for selection only.
struct BiasSettings {
  double hot_bias = 0;         // 0 to kMaxHotBias; 0 changes nothing
  double balance_penalty = 0;  // damps what the bias caused
  bool guarded = true;         // false only to measure what the guards are worth
};

inline constexpr double kMaxHotBias = 0.15;
inline constexpr int kMaxSwaps = 2;  // per token and layer

/// One token at one layer.
struct BiasRow {
  std::span<const float> logits;     // [experts], of the router
  std::span<const float> residency;  // [experts], 0 to 1
  std::span<const float> excess;     // [experts], from excess_use(); may be empty
  std::span<const float> weights;    // [top_k], mixing weights of the true choice, summing to 1
};

/// What the bias changed.
struct BiasResult {
  int swaps = 0;
  float displaced_weight = 0;  // mixing weight of the experts that were replaced
};

/// How far an expert is used beyond what the router asks for, in [0, 1]: by the bias alone, so 0 up to half as much
/// again.
float excess_use(double used, double routed);

/// Exchanges routed experts for resident ones whose score z + R (hot_bias m - balance_penalty o) is higher, with R the
/// span of this row's logits z. A swap of i for j needs: i is not among the best two; j is among the best 2 top_k;
/// z_i - z_j <= hot_bias R; i weighs less than 0.75 / top_k; at most two swaps. One thread.
class RoutingBias {
 public:
  explicit RoutingBias(const BiasSettings& settings) : settings_(settings) {}

  /// `ids` [top_k] holds the true choice, the largest logit first, and afterwards the final one in the same order.
  BiasResult apply(const BiasRow& row, std::span<int32_t> ids);

 private:
  BiasResult apply_unguarded(const BiasRow& row, std::span<int32_t> ids);
  /// Resident experts that the router ranks from top_k to 2 top_k, the best score first.
  std::span<const int32_t> rank_incoming(const BiasRow& row, size_t top_k);

  BiasSettings settings_;
  std::vector<int32_t> order_;  // [experts], scratch
};

}  // namespace luce::experts
