#include "experts/label_usage.hpp"

#include <gtest/gtest.h>

namespace luce::experts {
namespace {

void use(LabelUsage& usage, const char* name, size_t cell, int tokens = 1) {
  for (int i = 0; i < tokens; ++i) {
    const size_t label = usage.open(name);
    usage.begin_token(label);
    usage.count(label, cell);
  }
}

TEST(LabelUsage, CountsFadeWithTheLabelsOwnTokens) {
  LabelUsage usage(4, 3, 10);
  use(usage, "a", 1);
  use(usage, "b", 2, 1000);  // of no concern to a
  EXPECT_NEAR(usage.at(*usage.find("a"), 1), 1.0, 1e-6);
  use(usage, "a", 3, 10);
  EXPECT_NEAR(usage.at(*usage.find("a"), 1), 0.5, 1e-4);
  EXPECT_EQ(usage.at(*usage.find("a"), 2), 0.0);
  EXPECT_FALSE(usage.find("c"));
}

TEST(LabelUsage, SharesAreRightAfterAnyNumberOfTokens) {
  LabelUsage usage(3, 1, 2);  // gains grow out of a float's range again and again
  for (int i = 0; i < 3000; ++i) use(usage, "a", static_cast<size_t>(i % 2));
  const size_t a = *usage.find("a");
  EXPECT_NEAR((usage.at(a, 0) + usage.at(a, 1)) / usage.tokens(a), 1.0, 1e-3);
  EXPECT_GT(usage.at(a, 1), usage.at(a, 0));  // the last token's
  EXPECT_EQ(usage.at(a, 2), 0.0);
}

TEST(LabelUsage, TheLeastUsedGivesWay) {
  LabelUsage usage(2, 2, 100);
  use(usage, "often", 0, 50);
  use(usage, "rare", 0, 5);
  use(usage, "new", 1);
  EXPECT_TRUE(usage.find("often"));
  EXPECT_FALSE(usage.find("rare"));
  ASSERT_TRUE(usage.find("new"));
  EXPECT_EQ(usage.at(*usage.find("new"), 0), 0.0);  // nothing of its predecessor
  EXPECT_EQ(usage.kept(), 2U);
  EXPECT_EQ(usage.forgotten(), 1U);
}

TEST(LabelUsage, ALabelThatFallsSilentGivesWayInTheEnd) {
  LabelUsage usage(2, 2, 10);
  use(usage, "old", 0, 100);
  use(usage, "busy", 0, 2000);
  use(usage, "later", 0, 20);
  EXPECT_FALSE(usage.find("old"));
  EXPECT_TRUE(usage.find("busy"));
}

TEST(LabelUsage, IsRestoredAsItWas) {
  LabelUsage usage(2, 2, 10);
  usage.restore("a", std::vector<float>{3, 1}, 4);
  EXPECT_EQ(usage.tokens(*usage.find("a")), 4.0);
  EXPECT_EQ(usage.at(*usage.find("a"), 0), 3.0);
  use(usage, "a", 1, 10);
  EXPECT_NEAR(usage.at(*usage.find("a"), 0), 1.5, 1e-4);
}

}  // namespace
}  // namespace luce::experts
