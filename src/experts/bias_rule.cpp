#include "experts/bias_rule.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace luce::experts {
namespace {

constexpr double kMicro = 1e6;
}  // namespace

BiasRule::BiasRule(const BiasRuleSettings& settings, const Usage& routed, CounterTable& counters,
                   ReadResidency residency)
    : settings_(settings),
      bias_(settings.bias),
      routed_(routed),
      used_(routed.experts(), settings.stats_window_tokens),
      counters_(counters),
      read_residency_(std::move(residency)) {}

void BiasRule::begin(int, int rows, int top_k) {
  state_read_ = false;
  const size_t pairs = static_cast<size_t>(rows) * static_cast<size_t>(top_k);
  top_k_ = static_cast<size_t>(top_k);
  wanted_ids_.assign(pairs, device::kNoExpert);
  wanted_weights_.assign(pairs, 0.0F);
}

bool BiasRule::revise(const device::SelectionRow& row) {
  const auto at = static_cast<std::ptrdiff_t>(row.row) * static_cast<std::ptrdiff_t>(top_k_);
  std::copy(row.ids.begin(), row.ids.end(), wanted_ids_.begin() + at);
  std::copy(row.weights.begin(), row.weights.end(), wanted_weights_.begin() + at);
  if (row.row_class != device::RowClass::decode || !past_warm_up()) return false;
  if (!state_read_) read_state(row.layer);
  std::vector<float>& weights = shares_;
  weights.assign(row.weights.begin(), row.weights.end());
  const float total = std::accumulate(weights.begin(), weights.end(), 0.0F);
  for (float& weight : weights) weight /= total;
  const BiasResult result = bias_.apply({row.logits, residency_, excess_, weights}, row.ids);
  if (result.swaps == 0) return false;
  counters_.add(row.layer, CounterTable::Field::substituted, static_cast<uint64_t>(result.swaps));
  counters_.add(row.layer, CounterTable::Field::displaced_millionths,
                static_cast<uint64_t>(std::llround(static_cast<double>(result.displaced_weight) * kMicro)));
  return true;
}

void BiasRule::read_state(int layer) {
  const auto experts = static_cast<size_t>(routed_.experts(layer));
  residency_.resize(experts);
  excess_.resize(experts);
  read_residency_(layer, residency_);
  for (size_t expert = 0; expert < experts; ++expert) {
    const auto id = static_cast<int32_t>(expert);
    excess_[expert] = excess_use(static_cast<double>(used_.in_window(layer, id).decode),
                                 static_cast<double>(routed_.in_window(layer, id).decode));
  }
  state_read_ = true;
}

device::Routing BiasRule::wanted(const device::Routing& routing) const {
  device::Routing wanted = routing;
  wanted.ids = wanted_ids_.data();
  wanted.weights = wanted_weights_.data();
  return wanted;
}

}  // namespace luce::experts
