#include "experts/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.hpp"

namespace luce::experts {
namespace {

/// Values from a table.
class TablePolicy final : public LayerPolicy {
 public:
  explicit TablePolicy(std::map<int32_t, double> values) : values_(std::move(values)) {}
  void record(const LayerUse&) override {}
  double keep_value(int32_t expert) const override { return values_.at(expert); }

 private:
  std::map<int32_t, double> values_;
};

struct VictimCase {
  const char* what;
  std::vector<Candidate> candidates;
  std::optional<int32_t> ungated, gated;
};

TEST(Policy, ChoosesByValueThenRecencyThenId) {
  const std::map<int32_t, double> values = {{0, 3.0}, {1, 1.0}, {2, 1.0}, {3, 1.0}, {4, 0.5}, {9, 1.0}};
  const std::vector<VictimCase> table = {
      {"nothing to evict", {}, {}, {}},
      {"one that is worth more", {{0, 1}}, 0, {}},
      {"one that is worth the same is kept by the gate", {{1, 1}}, 1, {}},
      {"one that is worth less", {{4, 9}}, 4, 4},
      {"the lowest value, however recent", {{0, 1}, {1, 2}, {4, 9}}, 4, 4},
      {"equal values: the longest unused", {{0, 1}, {1, 7}, {2, 6}, {3, 8}}, 2, {}},
      {"equal values and recency: the lowest id", {{3, 5}, {2, 5}, {1, 5}}, 1, {}},
  };
  for (const VictimCase& row : table) {
    EXPECT_EQ(choose_victim(TablePolicy(values), row.candidates, 9, {}), row.ungated) << row.what;
    EXPECT_EQ(choose_victim(TablePolicy(values), row.candidates, 9, 1.0), row.gated) << row.what;
  }
}

TEST(Policy, LruGoesByRecencyAlone) {
  const auto lru = PolicySpec::parse("lru").factory()(0, 8);
  const std::vector<UsedExpert> often = {{3, 100, 0, 1.0F, 0.0F}};
  lru->record({0, 100, 0, often});
  EXPECT_FALSE(lru->gate().has_value());
  EXPECT_EQ(choose_victim(*lru, std::vector<Candidate>{{1, 4}, {2, 4}, {3, 3}}, 5, {}), 3);
}

TEST(Policy, RefusesUnknownNames) {
  try {
    PolicySpec::parse("lru2");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("lru2"));
  }
}

}  // namespace
}  // namespace luce::experts
