#include "experts/traffic_shape.hpp"

#include <algorithm>
#include <cmath>

namespace luce::experts {
namespace {

constexpr double kLargestShare = 0.8;
constexpr double kTimesEven = 4;
constexpr double kNarrow = 0.6;
constexpr double kNarrowOfAll = 0.85;
constexpr double kMargin = 0.05;

uint64_t uses(const UsageCount& count) { return count.prompt + count.decode; }

/// Counts of one layer, taken one by one.
struct Spread {
  void add(uint64_t count) {
    if (count == 0) return;
    const auto number = static_cast<double>(count);
    total += number;
    weighted_log += number * std::log(number);
  }
  /// Experts that would share these uses evenly.
  double experts() const { return total > 0 ? std::exp(std::log(total) - weighted_log / total) : 0; }

  double total = 0;
  double weighted_log = 0;
};

void take_layer(const Usage& usage, int layer, int top_k, TrafficShape& shape) {
  Spread window, all;
  uint64_t most = 0;
  int32_t most_expert = 0;
  for (int32_t expert = 0; expert < usage.experts(layer); ++expert) {
    const uint64_t count = uses(usage.in_window(layer, expert));
    window.add(count);
    all.add(uses(usage.total(layer, expert)));
    if (count <= most) continue;
    most = count;
    most_expert = expert;
  }
  shape.spread += window.experts() / usage.experts(layer);
  shape.spread_of_all += all.experts() / usage.experts(layer);
  const double rows = window.total / top_k;
  shape.rows = std::max(shape.rows, static_cast<uint64_t>(rows));
  const double share = rows > 0 ? static_cast<double>(most) / rows : 0;
  if (share <= shape.largest_share) return;
  shape.largest_share = share;
  shape.largest_layer = layer;
  shape.largest_expert = most_expert;
}

}  // namespace

TrafficShape traffic_shape(const Usage& usage, int top_k) {
  TrafficShape shape;
  shape.spread = shape.spread_of_all = 0;
  int layers = 0;
  for (int layer = 0; layer < usage.layers(); ++layer) {
    if (usage.experts(layer) == 0) continue;
    ++layers;
    take_layer(usage, layer, top_k, shape);
  }
  if (layers == 0) return {};
  shape.spread /= layers;
  shape.spread_of_all /= layers;
  return shape;
}

bool TrafficJudge::one_expert_takes_more(const TrafficShape& shape, double even_share) {
  const double margin = one_expert_ ? kMargin : 0;
  one_expert_ = shape.largest_share >= kLargestShare - margin && shape.largest_share >= kTimesEven * even_share;
  return one_expert_;
}

bool TrafficJudge::topic_is_narrow(const TrafficShape& shape) {
  const double margin = narrow_ ? kMargin : 0;
  narrow_ = shape.spread < kNarrow + margin || shape.spread < (kNarrowOfAll + margin) * shape.spread_of_all;
  return narrow_;
}

}  // namespace luce::experts
