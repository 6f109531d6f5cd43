#include "experts/routing_bias.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace luce::experts {
namespace {

constexpr size_t kUntouched = 2;  // the best experts of a token are never replaced
constexpr double kMostWeight = 0.75;

/// The scores of one row.
class Scores {
 public:
  Scores(const BiasSettings& settings, const BiasRow& row) : settings_(settings), row_(row) {
    const auto [least, most] = std::minmax_element(row.logits.begin(), row.logits.end());
    range_ = static_cast<double>(*most) - static_cast<double>(*least);
  }

  bool usable() const { return std::isfinite(range_) && range_ > 0; }
  double logit(int32_t expert) const { return row_.logits[static_cast<size_t>(expert)]; }
  double score(int32_t expert) const {
    const auto at = static_cast<size_t>(expert);
    const double excess = row_.excess.empty() ? 0 : row_.excess[at];
    return logit(expert) + range_ * (settings_.hot_bias * row_.residency[at] - settings_.balance_penalty * excess);
  }
  bool close_enough(int32_t out, int32_t in) const { return logit(out) - logit(in) <= settings_.hot_bias * range_; }
  /// Larger logits first, ties to the lower id, as the router orders them.
  bool before(int32_t a, int32_t b) const { return logit(a) != logit(b) ? logit(a) > logit(b) : a < b; }

 private:
  const BiasSettings& settings_;
  const BiasRow& row_;
  double range_ = 0;
};

/// The place of the routed expert with the lowest score that may give way to `incoming`, or top_k.
size_t weakest_place(const Scores& scores, const BiasRow& row, std::span<const int32_t> ids, int32_t incoming) {
  const auto top_k = static_cast<double>(ids.size());
  size_t weakest = ids.size();
  for (size_t place = kUntouched; place < ids.size(); ++place) {
    const int32_t expert = ids[place];
    if (row.weights[place] >= kMostWeight / top_k || !scores.close_enough(expert, incoming)) continue;
    if (scores.score(expert) >= scores.score(incoming)) continue;
    if (weakest == ids.size() || scores.score(expert) <= scores.score(ids[weakest])) weakest = place;
  }
  return weakest;
}

}  // namespace

float excess_use(double used, double routed) {
  return static_cast<float>(std::clamp(used / std::max(routed, 1.0) - 1.5, 0.0, 1.0));
}

std::span<const int32_t> RoutingBias::rank_incoming(const BiasRow& row, size_t top_k) {
  const Scores scores(settings_, row);
  order_.resize(row.logits.size());
  std::iota(order_.begin(), order_.end(), 0);
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(std::min(top_k, order_.size()));
  auto last = order_.begin() + static_cast<std::ptrdiff_t>(std::min(2 * top_k, order_.size()));
  std::partial_sort(order_.begin(), last, order_.end(), [&](int32_t a, int32_t b) { return scores.before(a, b); });
  last = std::remove_if(first, last, [&](int32_t each) { return row.residency[static_cast<size_t>(each)] <= 0; });
  std::stable_sort(first, last, [&](int32_t a, int32_t b) { return scores.score(a) > scores.score(b); });
  return {first, last};
}

/// The experts of the highest scores, whatever is displaced.
BiasResult RoutingBias::apply_unguarded(const BiasRow& row, std::span<int32_t> ids) {
  const Scores scores(settings_, row);
  order_.resize(row.logits.size());
  std::iota(order_.begin(), order_.end(), 0);
  const auto last = order_.begin() + static_cast<std::ptrdiff_t>(ids.size());
  std::partial_sort(order_.begin(), last, order_.end(), [&](int32_t a, int32_t b) {
    return scores.score(a) != scores.score(b) ? scores.score(a) > scores.score(b) : scores.before(a, b);
  });
  BiasResult result;
  for (size_t place = 0; place < ids.size(); ++place) {
    if (std::find(order_.begin(), last, ids[place]) != last) continue;
    ++result.swaps;
    result.displaced_weight += row.weights[place];
  }
  std::copy(order_.begin(), last, ids.begin());
  std::sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) { return scores.before(a, b); });
  return result;
}

BiasResult RoutingBias::apply(const BiasRow& row, std::span<int32_t> ids) {
  BiasResult result;
  if (settings_.hot_bias <= 0 || ids.size() <= kUntouched) return result;
  const Scores scores(settings_, row);
  if (!scores.usable()) return result;
  if (!settings_.guarded) return apply_unguarded(row, ids);
  for (const int32_t incoming : rank_incoming(row, ids.size())) {
    if (result.swaps == kMaxSwaps) break;
    const size_t place = weakest_place(scores, row, ids, incoming);
    if (place == ids.size()) continue;
    ids[place] = incoming;
    result.displaced_weight += row.weights[place];
    ++result.swaps;
  }
  std::sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) { return scores.before(a, b); });
  return result;
}

}  // namespace luce::experts
