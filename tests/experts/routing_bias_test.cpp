#include "experts/routing_bias.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

namespace luce::experts {
namespace {

using Ids = std::vector<int32_t>;

/// A row of logits with what belongs to it.
struct Row {
  std::vector<float> logits, residency, excess;
  Ids ids;
  std::vector<float> weights;

  Row(std::vector<float> z, size_t top_k, const Ids& resident) : logits(std::move(z)) {
    residency.assign(logits.size(), 0.0F);
    excess.assign(logits.size(), 0.0F);
    for (const int32_t expert : resident) residency[static_cast<size_t>(expert)] = 1;
    Ids order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return z_of(a) > z_of(b); });
    ids.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top_k));
    float total = 0;
    for (const int32_t id : ids) weights.push_back(std::exp(z_of(id) - z_of(ids[0])));
    for (const float weight : weights) total += weight;
    for (float& weight : weights) weight /= total;
  }
  float z_of(int32_t expert) const { return logits[static_cast<size_t>(expert)]; }
  BiasRow view() const { return {logits, residency, excess, weights}; }
  BiasResult apply(const BiasSettings& settings) { return RoutingBias(settings).apply(view(), ids); }
};

// R = 10. The true choice of four is 0, 1, 2, 3.
const std::vector<float> kLogits = {10, 9.5, 8, 7.9, 7, 6.9, 6.8, 6.7, 6.6, 0};

struct Case {
  const char* what;
  double hot_bias;
  Ids resident;
  Ids expected;
  int swaps;
};

TEST(RoutingBias, Table) {
  const Case cases[] = {
      {"off", 0, {4, 5}, {0, 1, 2, 3}, 0},
      {"nothing resident", 0.15, {}, {0, 1, 2, 3}, 0},
      {"all resident", 0.15, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 1, 2, 3}, 0},
      {"one comes in for the weakest", 0.15, {0, 1, 2, 4}, {0, 1, 2, 4}, 1},
      {"two come in", 0.15, {4, 5}, {0, 1, 4, 5}, 2},
      {"never more than two, never the best two", 0.15, {4, 5, 6, 7}, {0, 1, 4, 5}, 2},
      {"a resident expert is not worth less than another", 0.15, {3, 4}, {0, 1, 3, 4}, 1},
      {"too small a bias", 0.05, {4, 5}, {0, 1, 2, 3}, 0},
      {"a bias that reaches the last only", 0.095, {4, 5}, {0, 1, 2, 4}, 1},
      {"beyond the best 2k", 0.15, {8}, {0, 1, 2, 3}, 0},
  };
  for (const Case& each : cases) {
    Row row(kLogits, 4, each.resident);
    EXPECT_EQ(row.apply({each.hot_bias, 0}).swaps, each.swaps) << each.what;
    EXPECT_EQ(row.ids, each.expected) << each.what;
  }
}

TEST(RoutingBias, TellsTheDisplacedWeight) {
  Row row(kLogits, 4, {4, 5});
  const std::vector<float> weights = row.weights;
  EXPECT_FLOAT_EQ(row.apply({0.15, 0}).displaced_weight, weights[2] + weights[3]);
}

TEST(RoutingBias, KeepsAHeavyExpert) {
  // The third and fourth weigh nearly a quarter each, above 0.75 / 4.
  Row row({5, 5, 4.99F, 4.98F, 4.97F, 4.96F, 0, -5}, 4, {4, 5});
  EXPECT_EQ(row.apply({0.15, 0}).swaps, 0);
}

TEST(RoutingBias, TheBalancePenaltyHoldsBackAnOverusedExpert) {
  Row row(kLogits, 4, {4});
  row.excess[4] = 1;
  EXPECT_EQ(row.apply({0.15, 0.02}).swaps, 1);
  Row damped(kLogits, 4, {4});
  damped.excess[4] = 1;
  EXPECT_EQ(damped.apply({0.15, 0.1}).swaps, 0);
  Row alone(kLogits, 4, {4});
  alone.excess[3] = 1;
  EXPECT_EQ(alone.apply({0, 0.9}).swaps, 0) << "without a bias the penalty has nothing to act on";
}

TEST(RoutingBias, ALaterExpertMayFitWhereTheFirstLiesTooFarBelow) {
  // Expert 3 is overused, so 4 and 5 both score higher; 4 the most, but 1.8 below where 1.5 is allowed.
  Row row({10, 9, 5.5F, 5, 3.2F, 3.55F, 0, 0}, 4, {4});
  row.residency[5] = 0.5F;
  row.excess[3] = 1;
  EXPECT_EQ(row.apply({0.15, 0.2}).swaps, 1);
  EXPECT_EQ(row.ids, (Ids{0, 1, 2, 5}));
}

TEST(RoutingBias, LogitsThatAreNoNumbersChangeNothing) {
  for (const float odd : {std::nanf(""), INFINITY, -INFINITY}) {
    Row row(kLogits, 4, {4, 5});
    const Ids before = row.ids;
    row.logits[9] = odd;
    EXPECT_EQ(row.apply({0.15, 0.02}).swaps, 0);
    EXPECT_EQ(row.ids, before);
  }
  Row flat(std::vector<float>(8, 1.0F), 4, {6, 7});
  EXPECT_EQ(flat.apply({0.15, 0.02}).swaps, 0);
}

TEST(RoutingBias, SmallChoicesAreLeftAlone) {
  Row two(kLogits, 2, {4, 5});
  EXPECT_EQ(two.apply({0.15, 0}).swaps, 0);
  Row many({3, 2, 1, 0}, 3, {3});  // fewer experts than 2k
  EXPECT_LE(many.apply({0.15, 0}).swaps, 1);
}

TEST(RoutingBias, HoldsItsGuardsOnRandomRows) {
  std::mt19937 random(7);
  std::normal_distribution<float> logit(0, 1);
  std::uniform_real_distribution<float> share(0, 1);
  int swaps = 0;
  for (int round = 0; round < 5000; ++round) {
    const size_t top_k = 3 + random() % 6;
    std::vector<float> logits(20 + random() % 40);
    for (float& z : logits) z = logit(random);
    Row row(logits, top_k, {});
    for (float& m : row.residency) m = share(random) < 0.4F ? 1.0F : 0.0F;
    for (float& o : row.excess) o = share(random) < 0.2F ? share(random) : 0.0F;
    const Row before = row;
    const BiasSettings settings{share(random) * kMaxHotBias, 0.02};
    const BiasResult result = row.apply(settings);
    swaps += result.swaps;
    const std::set<int32_t> old(before.ids.begin(), before.ids.end()), now(row.ids.begin(), row.ids.end());
    ASSERT_EQ(now.size(), top_k);
    ASSERT_LE(result.swaps, kMaxSwaps);
    EXPECT_EQ(row.ids[0], before.ids[0]);
    EXPECT_EQ(row.ids[1], before.ids[1]);
    EXPECT_TRUE(
        std::is_sorted(row.ids.begin(), row.ids.end(), [&](int a, int b) { return row.z_of(a) > row.z_of(b); }));
    const auto [least, most] = std::minmax_element(logits.begin(), logits.end());
    int came = 0;
    for (const int32_t id : now) {
      if (old.count(id) > 0) continue;
      ++came;
      EXPECT_GT(row.residency[static_cast<size_t>(id)], 0);
      EXPECT_LT(std::count_if(logits.begin(), logits.end(), [&](float z) { return z > row.z_of(id); }),
                static_cast<std::ptrdiff_t>(2 * top_k));
    }
    EXPECT_EQ(came, result.swaps);
    for (size_t place = 0; place < top_k; ++place) {
      if (now.count(before.ids[place]) > 0) continue;
      EXPECT_LT(before.weights[place] * static_cast<float>(top_k), 0.75F);
      const double reach = (settings.hot_bias + 1e-6) * static_cast<double>(*most - *least);
      EXPECT_TRUE(std::any_of(now.begin(), now.end(), [&](int32_t id) {
        return old.count(id) == 0 && row.z_of(before.ids[place]) - row.z_of(id) <= reach;
      }));
    }
  }
  EXPECT_GT(swaps, 500);
}

TEST(ExcessUse, CountsBeyondHalfAsMuchAgain) {
  EXPECT_FLOAT_EQ(excess_use(0, 0), 0);
  EXPECT_FLOAT_EQ(excess_use(15, 10), 0);
  EXPECT_FLOAT_EQ(excess_use(20, 10), 0.5F);
  EXPECT_FLOAT_EQ(excess_use(100, 10), 1);
  EXPECT_FLOAT_EQ(excess_use(2, 0), 0.5F);
}

}  // namespace
}  // namespace luce::experts
