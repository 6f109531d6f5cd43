#include "experts/cached_expert_service.hpp"

#include <algorithm>
#include <numeric>

namespace luce::experts {
namespace {

constexpr double kExpectedShare = 0.8;  // of all uses to come, that a request alone is expected to bring

std::vector<int> experts_by_layer(const ExpertSource& source) {
  std::vector<int> experts;
  for (int layer = 0; layer < source.layers(); ++layer) experts.push_back(source.shape(layer).experts);
  return experts;
}

int most_experts(const ExpertSource& source) {
  const std::vector<int> experts = experts_by_layer(source);
  return experts.empty() ? 0 : *std::max_element(experts.begin(), experts.end());
}

/// The size class of each layer.
std::vector<size_t> slot_sizes(const ExpertSource& source) {
  std::vector<size_t> sizes;
  for (int layer = 0; layer < source.layers(); ++layer) sizes.push_back(source.layout(layer).slot_bytes);
  return sizes;
}

}  // namespace

size_t fixed_bytes(const ExpertSource& source, const CacheSettings& settings) {
  const std::vector<int> experts = experts_by_layer(source);
  const auto cells = static_cast<size_t>(std::accumulate(experts.begin(), experts.end(), 0));
  return staging_bytes(source, settings.tier.fetch_threads, settings.tier.stream_slots) +
         policy_bytes(source, settings.tier.policy) + Usage::bytes(cells) +
         RequestUsage::bytes(cells, settings.requests);
}

CachedExpertService::CachedExpertService(std::unique_ptr<const ExpertSource> source, device::Device& device,
                                         const CacheSettings& settings)
    : source_(std::move(source)),
      usage_(experts_by_layer(*source_), settings.stats_window_tokens),
      request_usage_(experts_by_layer(*source_), settings.requests),
      digest_(most_experts(*source_)),
      wanted_digest_(settings.bias.hot_bias > 0 ? most_experts(*source_) : 0),
      tier_(*source_, device, settings.tier),
      dispatch_(tier_, most_experts(*source_)),
      balancer_(tier_.cache(tier_.lock()), tier_.counters(), slot_sizes(*source_), experts_by_layer(*source_)),
      slot_budget_(tier_, settings.tier.slots),
      warmup_tokens_(settings.warmup_tokens),
      router_(settings.router) {
  tier_.cache(tier_.lock()).set_strict(warmup_tokens_ <= 0);
  if (settings.bias.hot_bias <= 0) return;
  const BiasRuleSettings rule{settings.bias, settings.stats_window_tokens, settings.warmup_tokens};
  const auto residency = [this](int layer, std::span<float> to) { read_residency(layer, to); };
  bias_ = std::make_unique<BiasRule>(rule, usage_, tier_.counters(), residency);
}

void CachedExpertService::begin_step(std::span<const RowOwner> owners) {
  for (const RowOwner* const starting : request_usage_.begin_step(owners))
    expect(*starting, 1.0 / static_cast<double>(owners.size()));
}

/// Lets the policy and the slots make room for a request that starts.
void CachedExpertService::expect(const RowOwner& owner, double fresh) {
  const Expectation expectation = request_usage_.expect(owner);
  if (expectation.confidence <= 0) return;
  const double weight = kExpectedShare * expectation.confidence * fresh;
  const auto lock = tier_.lock();
  for (int layer = 0; layer < source_->layers(); ++layer)
    if (const auto& shares = expectation.shares[static_cast<size_t>(layer)]; !shares.empty())
      tier_.cache(lock).expect(layer, {shares, weight, fresh});
  tier_.fetch_ahead(lock, rank_experts(expectation.shares));
}

device::Dispatch& CachedExpertService::start(const device::Routing& routing) {
  const int experts = source_->shape(routing.layer).experts;
  const LayerUse use = digest_.digest(routing, experts);
  LayerUse wanted = use;
  if (bias_ && forced_ == nullptr) {
    wanted = wanted_digest_.digest(bias_->wanted(routing), experts);
    bias_->count_used(use);
  }
  count_change(use);
  usage_.count(wanted);
  request_usage_.count(wanted);
  step_tokens_ = std::max<int64_t>(step_tokens_, routing.rows);
  top_k_ = routing.top_k;
  dispatch_.open(use, wanted);
  tier_.advance_ahead(tier_.lock());
  return dispatch_;
}

/// What decode rows lost to a change of the router that was asked for.
void CachedExpertService::count_change(const LayerUse& use) {
  if (use.absent > 0) tier_.counters().add(use.layer, CounterTable::Field::dropped, static_cast<uint64_t>(use.absent));
  if (router_.temperature == 1.0F || use.decode_rows == 0) return;
  const int used = use.decode_rows * static_cast<int>(use.ids.size() / use.classes.size()) - use.absent;
  tier_.counters().add(use.layer, CounterTable::Field::reweighted, static_cast<uint64_t>(used));
}

void CachedExpertService::end_step() {
  dispatch_.close();
  usage_.end_step(step_tokens_);
  request_usage_.end_step();
  if (bias_) bias_->end_step(step_tokens_);
  if (static_cast<int64_t>(usage_.tokens()) >= warmup_tokens_) {
    const auto lock = tier_.lock();
    tier_.cache(lock).set_strict(true);
    balancer_.advance(step_tokens_, top_k_);
  }
  step_tokens_ = 0;
}

void CachedExpertService::seed(int layer, std::span<const double> counts) {
  const auto lock = tier_.lock();
  tier_.cache(lock).seed(layer, counts);
}

size_t CachedExpertService::resize_slots(size_t bytes) {
  slot_budget_.resize(bytes);
  const auto lock = tier_.lock();
  balancer_.replan();
  return tier_.slot_bytes(lock);
}

void CachedExpertService::read_residency(int layer, std::span<float> residency) const {
  const auto lock = tier_.lock();
  for (size_t expert = 0; expert < residency.size(); ++expert) {
    const int slot = tier_.cache(lock).find(layer, static_cast<int32_t>(expert));
    residency[expert] = slot != ExpertCache::kNoSlot && tier_.state(lock, slot) == SlotState::resident ? 1.0F : 0.0F;
  }
}

Residency CachedExpertService::residency() const {
  const std::vector<int> experts = experts_by_layer(*source_);
  const auto lock = tier_.lock();
  return {tier_.cache(lock).resident(), tier_.slots(lock), std::accumulate(experts.begin(), experts.end(), 0),
          balancer_.moved()};
}

bool CachedExpertService::is_resident(int layer, int32_t expert) const {
  const auto lock = tier_.lock();
  const int slot = tier_.cache(lock).find(layer, expert);
  return slot != ExpertCache::kNoSlot && tier_.state(lock, slot) == SlotState::resident;
}

CacheMemory CachedExpertService::memory() const {
  return {tier_.slot_bytes(tier_.lock()), tier_.stream_bytes(), tier_.read_buffer_bytes(), tier_.policy_bytes(),
          usage_.bytes() + request_usage_.bytes()};
}

}  // namespace luce::experts
