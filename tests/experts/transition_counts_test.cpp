#include "experts/transition_counts.hpp"

#include <gtest/gtest.h>

namespace luce::experts {
namespace {

std::vector<float> lift_after(const TransitionCounts& counts, std::vector<TransitionCounts::Context> context) {
  std::vector<float> lift(4);
  counts.lift(context, lift);
  return lift;
}

TEST(TransitionCounts, KnowsNothingAtFirst) {
  const TransitionCounts counts(4, {});
  EXPECT_EQ(lift_after(counts, {}), std::vector<float>(4, 1.0F));
}

TEST(TransitionCounts, AreSharesAfterOverSharesEver) {
  TransitionCounts counts(4, {.half_life_rows = 1e9, .prior = 0, .floor = 0});
  const std::vector<int32_t> one = {1}, two = {2};
  for (int i = 0; i < 30; ++i) {  // 1 always follows 0; 1 is chosen in 40 of 100 rows
    counts.begin_row(one);
    counts.follow(0, 1.0, one);
  }
  for (int i = 0; i < 10; ++i) counts.begin_row(one);
  for (int i = 0; i < 60; ++i) counts.begin_row(two);
  const auto lift = lift_after(counts, {{0, 1.0F}});
  EXPECT_NEAR(lift[1], 1.0 / 0.4, 1e-4);
  EXPECT_EQ(lift[2], 0.0F);
}

TEST(TransitionCounts, ThePriorPullsTowardsOne) {
  TransitionCounts counts(4, {.half_life_rows = 1e9, .prior = 10, .floor = 0});
  const std::vector<int32_t> one = {1}, two = {2};
  for (int i = 0; i < 10; ++i) {
    counts.begin_row(one);
    counts.follow(0, 1.0, one);
    counts.begin_row(two);
  }
  EXPECT_NEAR(lift_after(counts, {{0, 1.0F}})[1], (2.0 + 1.0) / 2, 1e-4);
  EXPECT_NEAR(lift_after(counts, {{0, 1.0F}})[2], (0.0 + 1.0) / 2, 1e-4);
}

TEST(TransitionCounts, ContextsMixByWeight) {
  TransitionCounts counts(4, {.half_life_rows = 1e9, .prior = 0, .floor = 0});
  const std::vector<int32_t> one = {1}, two = {2};
  counts.begin_row(one);
  counts.follow(0, 1.0, one);
  counts.begin_row(two);
  counts.follow(3, 0.3, two);
  const auto lift = lift_after(counts, {{0, 3.0F}, {3, 1.0F}});
  EXPECT_NEAR(lift[1], 0.75 / 0.5, 1e-4);
  EXPECT_NEAR(lift[2], 0.25 / 0.5, 1e-4);
}

TEST(TransitionCounts, OldRowsFadeAndRescalingChangesNothing) {
  TransitionCounts fast(4, {.half_life_rows = 2, .prior = 1, .floor = 0.01});
  const std::vector<int32_t> one = {1}, two = {2};
  const auto teach = [&fast](const std::vector<int32_t>& next) {
    fast.begin_row(next);
    fast.follow(0, 1.0, next);
  };
  for (int i = 0; i < 200; ++i) teach(one);
  for (int i = 0; i < 20; ++i) teach(two);
  const auto lift = lift_after(fast, {{0, 1.0F}});
  for (int i = 0; i < 38; ++i) teach(two);  // over the point of rescaling, 40 rows at a half-life of 2
  const auto later = lift_after(fast, {{0, 1.0F}});
  EXPECT_GT(lift[2], 0.9F);
  EXPECT_NEAR(lift[2], later[2], 0.05);
}

}  // namespace
}  // namespace luce::experts
