#pragma once

#include <memory>

#include "device/expert_service.hpp"
#include "experts/bias_rule.hpp"
#include "experts/expert_tier.hpp"
#include "experts/request_usage.hpp"
#include "experts/slot_balancer.hpp"
#include "experts/slot_budget.hpp"
#include "experts/usage.hpp"
#include "experts/warm_up.hpp"
#include "experts/wave_dispatch.hpp"

namespace luce::experts {

struct CacheSettings {
  TierSettings tier;
  int64_t stats_window_tokens = 10'000;
  int64_t warmup_tokens = 0;  // no gate, no bias and no moving of slots before so many
  BiasSettings bias = {};     // hot_bias 0: none
  device::RouterChange router = {};
  RequestUsageSettings requests = {};
};

/// Memory the cache takes; slots may have given some back, nothing grows beyond what it was when the cache was made.
struct CacheMemory {
  size_t slot_bytes = 0;         // Purpose::expert_slots of the device
  size_t stream_bytes = 0;       // Purpose::staging of the device
  size_t read_buffer_bytes = 0;  // host
  size_t policy_bytes = 0;       // host
  size_t usage_bytes = 0;        // host
};

/// What a cache with these settings takes beside its slots, for the memory plan: read buffers, stream slots, and what
/// it remembers of usage.
size_t fixed_bytes(const ExpertSource& source, const CacheSettings& settings);

/// How full the cache is.
struct Residency {
  int resident = 0;  // experts in a slot
  int slots = 0;     // in service
  int experts = 0;
  int64_t slots_moved = 0;  // between layers, since the start
};

/// A bounded cache of experts over a slower tier, for devices that ask at host points. Steps come from one thread;
/// counters, usage, residency and warm() may be used from others beside it.
class CachedExpertService final : public device::ExpertService {
 public:
  /// Allocates all memory and starts the fetching threads. The device must outlive this. Throws Error{out_of_memory}.
  CachedExpertService(std::unique_ptr<const ExpertSource> source, device::Device& device,
                      const CacheSettings& settings);

  const device::ExpertShape& shape(int layer) const override { return source_->shape(layer); }
  /// Tells whose rows the next step holds, in row order; may be left out. Starts to fetch what the session and the tag
  /// of a request that is new are known to use.
  void begin_step(std::span<const RowOwner> owners);
  /// Throws Error{device} for expert ids out of range.
  device::Dispatch& start(const device::Routing& routing) override;
  void end_step() override;
  device::RouterChange router_change() const override { return router_; }
  device::SelectionRule* selection_rule() override { return forced_ != nullptr ? forced_ : bias_.get(); }
  /// Puts a rule in the place of the bias; usage counts its choices. Between steps.
  void force_selection(device::SelectionRule* rule) { forced_ = rule; }

  /// Starts the policy of a layer with these counts of earlier use [experts], which then fade like traffic.
  void seed(int layer, std::span<const double> counts);
  /// The policy's fast score of each expert of a layer; empty if it has none. Any thread.
  std::vector<double> fast_scores(int layer) const {
    const auto lock = tier_.lock();
    return tier_.cache(lock).uses(layer);
  }
  WarmResult warm(const WarmRequest& request) { return warm_up(tier_, request); }
  /// As SlotBudget::resize. Returns the bytes of slots in service then.
  size_t resize_slots(size_t bytes);

  /// Since the start. The difference of two snapshots around a step is what the step did.
  ServiceCounters counters() const { return tier_.counters().total(); }
  ServiceCounters layer_counters(int layer) const { return tier_.counters().of_layer(layer); }
  const Usage& usage() const { return usage_; }
  RequestUsage& request_usage() { return request_usage_; }
  const RequestUsage& request_usage() const { return request_usage_; }
  /// Whether fetches for requests that started are on their way.
  bool fetches_ahead() const { return tier_.fetches_ahead(tier_.lock()); }
  Residency residency() const;
  bool is_resident(int layer, int32_t expert) const;
  CacheMemory memory() const;

 private:
  void count_change(const LayerUse& use);
  void expect(const RowOwner& owner, double fresh);
  void read_residency(int layer, std::span<float> residency) const;

  std::unique_ptr<const ExpertSource> source_;
  Usage usage_;
  RequestUsage request_usage_;
  RoutingDigest digest_, wanted_digest_;
  mutable ExpertTier tier_;
  WaveDispatch dispatch_;
  std::unique_ptr<BiasRule> bias_;           // null: none
  device::SelectionRule* forced_ = nullptr;  // null: none
  SlotBalancer balancer_;
  SlotBudget slot_budget_;
  int64_t warmup_tokens_ = 0;
  device::RouterChange router_;
  int top_k_ = 0;
  int64_t step_tokens_ = 0;
};

}  // namespace luce::experts
