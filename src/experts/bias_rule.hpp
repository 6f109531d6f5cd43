#pragma once

#include <functional>
#include <vector>

#include "device/expert_service.hpp"
#include "experts/counters.hpp"
#include "experts/routing_bias.hpp"
#include "experts/usage.hpp"

namespace luce::experts {

struct BiasRuleSettings {
  BiasSettings bias;
  int64_t stats_window_tokens = 10'000;
  int64_t warmup_tokens = 0;  // nothing is changed before so many were routed
};

/// The routing bias as the device's selection rule: bends decode rows towards resident experts, and remembers what the
/// router itself chose, so that usage counts that. Step thread only.
class BiasRule final : public device::SelectionRule {
 public:
  /// Sets [experts] to 1 for the layer's resident experts, else 0.
  using ReadResidency = std::function<void(int layer, std::span<float> residency)>;

  /// `routed` is the usage of the unbiased router; it and `counters` must outlive this.
  BiasRule(const BiasRuleSettings& settings, const Usage& routed, CounterTable& counters, ReadResidency residency);

  void begin(int layer, int rows, int top_k) override;
  bool revise(const device::SelectionRow& row) override;

  /// The routing as the router wanted it, for the layer that was selected last; valid until its next begin().
  device::Routing wanted(const device::Routing& routing) const;
  /// Counts what was used in its place.
  void count_used(const LayerUse& use) { used_.count(use); }
  void end_step(int64_t tokens) { used_.end_step(tokens); }

 private:
  bool past_warm_up() const { return routed_.tokens() >= static_cast<uint64_t>(settings_.warmup_tokens); }
  void read_state(int layer);

  BiasRuleSettings settings_;
  RoutingBias bias_;
  const Usage& routed_;
  Usage used_;  // what the device computed with
  CounterTable& counters_;
  ReadResidency read_residency_;
  bool state_read_ = false;
  std::vector<float> residency_, excess_;  // [experts] of the layer
  size_t top_k_ = 0;
  std::vector<int32_t> wanted_ids_;  // [rows, top_k]
  std::vector<float> wanted_weights_;
  std::vector<float> shares_;  // [top_k], scratch
};

}  // namespace luce::experts
