#include "experts/usage.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <random>

namespace luce::experts {
namespace {

void count(Usage& usage, int layer, int32_t expert, int decode_rows, int prompt_rows) {
  const std::vector<UsedExpert> used = {{expert, decode_rows, prompt_rows, 0.0F, 0.0F}};
  usage.count({layer, decode_rows, prompt_rows, used});
}

TEST(Usage, KeepsPromptAndDecodeApart) {
  Usage usage({4, 0, 8}, 1600);
  count(usage, 2, 7, 3, 5);
  count(usage, 2, 7, 1, 0);
  count(usage, 0, 3, 0, 2);
  EXPECT_EQ(usage.total(2, 7).decode, 4U);
  EXPECT_EQ(usage.total(2, 7).prompt, 5U);
  EXPECT_EQ(usage.total(0, 3).prompt, 2U);
  EXPECT_EQ(usage.total(2, 3).prompt, 0U);
  EXPECT_EQ(usage.in_window(2, 7).decode, 4U);
}

TEST(Usage, SumsMixingWeightsThatAreNumbers) {
  Usage usage({2}, 16);
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (const float weight : {0.25F, 0.5F, none, -1.0F}) {
    const std::vector<UsedExpert> used = {{1, 1, 1, weight, weight == weight ? 0.125F : 0.0F}};
    usage.count({0, 1, 1, used});
    usage.end_step(1);
  }
  EXPECT_NEAR(usage.total(0, 1).weight, 1.0, 1e-6);
  EXPECT_EQ(usage.total(0, 0).weight, 0.0);
  usage.end_step(100);
  EXPECT_EQ(usage.in_window(0, 1).weight, 0.0);
}

TEST(Usage, TheWindowForgetsTheTotalDoesNot) {
  Usage usage({2}, 160);
  count(usage, 0, 1, 1, 0);
  usage.end_step(1);
  for (int i = 0; i < 148; ++i) usage.end_step(1);
  EXPECT_EQ(usage.in_window(0, 1).decode, 1U);
  for (int i = 0; i < 11; ++i) usage.end_step(1);
  EXPECT_EQ(usage.in_window(0, 1).decode, 0U);
  EXPECT_EQ(usage.total(0, 1).decode, 1U);
  EXPECT_EQ(usage.tokens(), 160U);
}

TEST(Usage, AStepLongerThanTheWindowEmptiesIt) {
  Usage usage({2}, 160);
  count(usage, 0, 1, 7, 0);
  usage.end_step(100'000);
  EXPECT_EQ(usage.in_window(0, 1).decode, 0U);
}

TEST(Usage, TheWindowIsWithinASixteenthOfExact) {
  Usage usage({1}, 320);
  std::mt19937 random(5);
  std::deque<uint64_t> history;  // use of each token
  for (int token = 0; token < 3000; ++token) {
    const int rows = static_cast<int>(random() % 2);
    if (rows > 0) count(usage, 0, 0, rows, 0);
    usage.end_step(1);
    history.push_front(static_cast<uint64_t>(rows));
    uint64_t at_least = 0, at_most = 0;
    for (size_t age = 0; age < std::min<size_t>(320, history.size()); ++age) {
      at_most += history[age];
      if (age < 300) at_least += history[age];
    }
    ASSERT_LE(usage.in_window(0, 0).decode, at_most);
    ASSERT_GE(usage.in_window(0, 0).decode, at_least);
  }
}

TEST(Usage, TinyWindowsWork) {
  Usage usage({1}, 0);
  count(usage, 0, 0, 1, 0);
  for (int i = 0; i < 16; ++i) usage.end_step(1);
  EXPECT_EQ(usage.in_window(0, 0).decode, 0U);
}

}  // namespace
}  // namespace luce::experts
