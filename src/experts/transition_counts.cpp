#include "experts/transition_counts.hpp"

#include <algorithm>
#include <cmath>

namespace luce::experts {
namespace {
constexpr float kMostGain = 1e6F;  // sums then keep three digits of single precision to spare
}

TransitionCounts::TransitionCounts(int experts, const Settings& settings)
    : settings_(settings),
      growth_(static_cast<float>(std::exp2(1.0 / settings.half_life_rows))),
      pairs_(static_cast<size_t>(experts) * static_cast<size_t>(experts)),
      before_(static_cast<size_t>(experts)),
      chosen_(static_cast<size_t>(experts)) {}

void TransitionCounts::begin_row(std::span<const int32_t> chosen) {
  gain_ *= growth_;
  if (gain_ > kMostGain) rescale();
  rows_ += gain_;
  for (const int32_t expert : chosen) chosen_[static_cast<size_t>(expert)] += gain_;
}

void TransitionCounts::follow(int32_t before, double weight, std::span<const int32_t> chosen) {
  const float amount = gain_ * static_cast<float>(weight);
  before_[static_cast<size_t>(before)] += amount;
  float* row = pairs_.data() + static_cast<size_t>(before) * chosen_.size();
  for (const int32_t expert : chosen) row[expert] += amount;
}

void TransitionCounts::lift(std::span<const Context> context, std::span<float> lift) const {
  std::fill(lift.begin(), lift.end(), 0.0F);
  const float prior = static_cast<float>(settings_.prior) * gain_;
  float total_weight = 0.0F, prior_share = 0.0F;
  for (const auto& [expert, weight] : context) {
    const float scale = weight / (before_[static_cast<size_t>(expert)] + prior);
    const float* row = pairs_.data() + static_cast<size_t>(expert) * chosen_.size();
    for (size_t e = 0; e < lift.size(); ++e) lift[e] += scale * row[e];
    prior_share += scale * prior;
    total_weight += weight;
  }
  if (total_weight <= 0.0F) {
    std::fill(lift.begin(), lift.end(), 1.0F);
    return;
  }
  const float floor = static_cast<float>(settings_.floor);
  for (size_t e = 0; e < lift.size(); ++e)
    lift[e] = (lift[e] / (chosen_[e] / rows_ + floor) + prior_share) / total_weight;
}

void TransitionCounts::rescale() {
  for (auto* amounts : {&pairs_, &before_, &chosen_})
    for (float& amount : *amounts) amount /= gain_;
  rows_ /= gain_;
  gain_ = 1.0F;
}

size_t TransitionCounts::bytes(int experts) {
  const auto e = static_cast<size_t>(experts);
  return (e * e + 2 * e) * sizeof(float);
}

}  // namespace luce::experts
