#include "experts/bias_rule.hpp"

#include <gtest/gtest.h>

#include "experts/service_fixture.hpp"

namespace luce::experts {
namespace {

using device::RowClass;

constexpr int kTopK = 4;

/// A service of one layer of ten experts, five slots, whose router says what the test says.
class BiasedService : public testing::Test {
 protected:
  void make(double hot_bias, int64_t warmup_tokens = 0) {
    auto made = std::make_unique<FakeSource>(std::vector<FakeSource::Layer>{{10}});
    CacheSettings settings;
    settings.tier.slots = {5};
    settings.bias = {hot_bias, 0.02};
    settings.warmup_tokens = warmup_tokens;
    service_ = std::make_unique<CachedExpertService>(std::move(made), device_, settings);
    service_->warm({{{0, 0}, {0, 1}, {0, 2}, {0, 4}, {0, 6}}, 1.0, {}, nullptr});
  }
  /// One step of rows with the logits below; the experts that ran.
  std::vector<int32_t> step(const std::vector<RowClass>& classes) {
    const auto rows = static_cast<int>(classes.size());
    std::vector<int32_t> ids;
    std::vector<float> weights;
    for (int row = 0; row < rows; ++row) {
      ids.insert(ids.end(), {0, 1, 2, 3});
      weights.insert(weights.end(), {0.54F, 0.33F, 0.07F, 0.06F});
    }
    if (device::SelectionRule* const rule = service_->selection_rule(); rule != nullptr) {
      rule->begin(0, rows, kTopK);
      for (int row = 0; row < rows; ++row) {
        const size_t at = static_cast<size_t>(row) * kTopK;
        changed_ = rule->revise({0, row, classes[static_cast<size_t>(row)], logits_,
                                 std::span(weights).subspan(at, kTopK), std::span(ids).subspan(at, kTopK)});
      }
    }
    device::Dispatch& dispatch = service_->start({0, rows, kTopK, ids.data(), weights.data(), classes.data()});
    while (!dispatch.next_wave().empty()) {
    }
    service_->end_step();
    return ids;
  }

  // The router's choice is 0, 1, 2, 3; of these 3 is not resident, and 4 is nearly as good.
  const std::vector<float> logits_ = {10, 9.5F, 8, 7.9F, 7, 6.9F, 6.8F, 6.7F, 6.6F, 0};
  FakeDevice device_;
  std::unique_ptr<CachedExpertService> service_;
  bool changed_ = false;
};

TEST_F(BiasedService, UsesAResidentExpertAndCountsTheRoutedOne) {
  make(0.15);
  EXPECT_EQ(step({RowClass::decode}), (std::vector<int32_t>{0, 1, 2, 4}));
  EXPECT_TRUE(changed_);
  const ServiceCounters counters = service_->counters();
  EXPECT_EQ(counters.substituted, 1U);
  EXPECT_NEAR(counters.displaced_weight, 0.06, 1e-5);
  EXPECT_EQ(counters.decode.hits, 4U);
  EXPECT_EQ(counters.decode.misses, 0U);
  EXPECT_EQ(service_->usage().total(0, 3).decode, 1U);
  EXPECT_EQ(service_->usage().total(0, 4).decode, 0U);
}

TEST_F(BiasedService, LeavesPromptRowsAlone) {
  make(0.15);
  EXPECT_EQ(step({RowClass::prompt}), (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_FALSE(changed_);
  EXPECT_EQ(service_->counters().substituted, 0U);
  EXPECT_EQ(service_->usage().total(0, 3).prompt, 1U);
}

TEST_F(BiasedService, WaitsForTheWarmUp) {
  make(0.15, 3);
  step({RowClass::prompt, RowClass::prompt});
  EXPECT_EQ(step({RowClass::decode}), (std::vector<int32_t>{0, 1, 2, 3})) << "two tokens were routed before";
  EXPECT_EQ(service_->counters().substituted, 0U);
  EXPECT_EQ(service_->usage().tokens(), 3U);
  // Expert 3 was admitted meanwhile, so that there is nothing to substitute unless it was evicted again.
  const bool resident = service_->is_resident(0, 3);
  step({RowClass::decode});
  EXPECT_EQ(service_->counters().substituted > 0, !resident);
}

TEST_F(BiasedService, HasNoRuleWithoutABias) {
  make(0);
  EXPECT_EQ(service_->selection_rule(), nullptr);
  EXPECT_EQ(step({RowClass::decode}), (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST_F(BiasedService, CountsEachRowOfAStep) {
  make(0.15);
  const auto ids = step({RowClass::decode, RowClass::prompt, RowClass::decode});
  EXPECT_EQ(ids, (std::vector<int32_t>{0, 1, 2, 4, 0, 1, 2, 3, 0, 1, 2, 4}));
  EXPECT_EQ(service_->counters().substituted, 2U);
  EXPECT_EQ(service_->usage().total(0, 3).decode, 2U);
  EXPECT_EQ(service_->usage().total(0, 3).prompt, 1U);
}

}  // namespace
}  // namespace luce::experts
