#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "cpu_bench.hpp"

namespace luce::device {
namespace {

class Selection : public OnEachCpu {
 protected:
  struct Chosen {
    std::vector<int32_t> ids;
    std::vector<float> weights;
  };

  Chosen select(const std::vector<float>& logits, int64_t rows, SelectExperts op) {
    Guarded<float> scores(logits), weights(static_cast<size_t>(rows * op.top_k));
    Guarded<int32_t> ids(static_cast<size_t>(rows * op.top_k));
    op.logits = floats_tensor(scores, {rows, static_cast<int64_t>(logits.size()) / rows});
    op.ids = ints_tensor(ids, {rows, op.top_k});
    op.weights = floats_tensor(weights, {rows, op.top_k});
    stream().select_experts(op);
    ids.expect_intact();
    weights.expect_intact();
    return {ids.values(), weights.values()};
  }
};
LUCE_ON_EACH_CPU(Selection);

TEST_P(Selection, TakesTheLargestInOrderWithSoftmaxWeights) {
  constexpr size_t kExperts = 60, kRows = 17;
  const std::vector<float> logits = random_values(kExperts * kRows, 1, 2.0F);
  for (const int top_k : {1, 4, 60})
    for (const bool renormalise : {true, false}) {
      const Chosen chosen = select(
          logits, kRows,
          {.logits = {}, .ids = {}, .weights = {}, .top_k = top_k, .renormalise = renormalise, .weight_scale = 2.5F});
      std::vector<Expected> weights;
      for (size_t r = 0; r < kRows; ++r) {
        const float* const row = logits.data() + r * kExperts;
        std::vector<int32_t> order(kExperts);
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, std::greater{}, [&](int32_t e) { return row[e]; });
        double total = 0;
        for (size_t i = 0; i < (renormalise ? static_cast<size_t>(top_k) : kExperts); ++i)
          total += std::exp(static_cast<double>(row[order[i]]));
        for (size_t i = 0; i < static_cast<size_t>(top_k); ++i) {
          EXPECT_EQ(chosen.ids[r * static_cast<size_t>(top_k) + i], order[i]);
          const double weight = 2.5 * std::exp(static_cast<double>(row[order[i]])) / total;
          weights.push_back({weight, weight});
        }
      }
      expect_close(chosen.weights, weights, 24, "softmax weights");
    }
}

TEST_P(Selection, ARuleChangesTheChoiceAndTheGateWeighsIt) {
  class Rule final : public SelectionRule {
   public:
    void begin(int layer, int rows, int top_k) override { begun.insert(begun.end(), {layer, rows, top_k}); }
    bool revise(const SelectionRow& row) override {
      EXPECT_EQ(row.logits.size(), 4U);
      EXPECT_FLOAT_EQ(row.weights[0] + row.weights[1], 1);
      if (row.row_class == RowClass::prompt) return false;
      row.ids[1] = 3;
      return true;
    }
    std::vector<int> begun;
  } rule;
  const std::vector<RowClass> classes = {RowClass::decode, RowClass::prompt};
  const std::vector<float> logits = {2, 1, 0, -1, 2, 1, 0, -1};
  SelectExperts op{.logits = {}, .ids = {}, .weights = {}, .top_k = 2};
  op.rule = &rule;
  op.classes = classes.data();
  op.layer = 5;
  const Chosen chosen = select(logits, 2, op);
  EXPECT_EQ(chosen.ids, (std::vector<int32_t>{0, 3, 0, 1}));
  EXPECT_EQ(rule.begun, (std::vector<int>{5, 2, 2}));
  EXPECT_NEAR(chosen.weights[1], 1 / (1 + std::exp(3.0)), 1e-6);
  EXPECT_NEAR(chosen.weights[3], 1 / (1 + std::exp(1.0)), 1e-6);
}

TEST_P(Selection, AChangedRouterBendsDecodeRowsOnly) {
  const std::vector<RowClass> classes = {RowClass::decode, RowClass::prompt};
  const std::vector<float> logits = {2, 1, 0, -1, 2, 1, 0, -1};
  for (const RouterGating gating : {RouterGating::softmax, RouterGating::sigmoid}) {
    SelectExperts op{.logits = {}, .ids = {}, .weights = {}, .top_k = 3, .gating = gating};
    const Chosen own = select(logits, 2, op);
    op.change = {2, 4.0F};
    op.classes = classes.data();
    const Chosen chosen = select(logits, 2, op);
    EXPECT_EQ(chosen.ids, (std::vector<int32_t>{0, 1, kNoExpert, 0, 1, 2}));
    EXPECT_EQ(std::vector(chosen.weights.begin() + 3, chosen.weights.end()),
              std::vector(own.weights.begin() + 3, own.weights.end()));
    EXPECT_NEAR(chosen.weights[0] + chosen.weights[1], 1, 1e-6);
    EXPECT_EQ(chosen.weights[2], 0);
    const double part[] = {gating == RouterGating::softmax ? std::exp(0.5) : 1 / (1 + std::exp(-0.5)),
                           gating == RouterGating::softmax ? std::exp(0.25) : 1 / (1 + std::exp(-0.25))};
    EXPECT_NEAR(chosen.weights[0] / chosen.weights[1], part[0] / part[1], 1e-6);
  }
}

TEST_P(Selection, ARouterThatIsAskedForItsOwnIsUnchangedToTheBit) {
  const std::vector<RowClass> classes(17, RowClass::decode);
  const std::vector<float> logits = random_values(60 * 17, 3, 2.0F);
  for (const bool renormalise : {true, false}) {
    SelectExperts op{.logits = {}, .ids = {}, .weights = {}, .top_k = 4, .renormalise = renormalise};
    const Chosen own = select(logits, 17, op);
    op.change = {4, 1.0F};
    op.classes = classes.data();
    const Chosen same = select(logits, 17, op);
    EXPECT_EQ(same.ids, own.ids);
    EXPECT_EQ(same.weights, own.weights);
  }
}

TEST_P(Selection, TiesGoToTheLowerId) {
  const Chosen chosen = select({1, 3, 3, 2, 3, 2}, 1, {.logits = {}, .ids = {}, .weights = {}, .top_k = 5});
  EXPECT_EQ(chosen.ids, (std::vector<int32_t>{1, 2, 4, 3, 5}));
}

TEST_P(Selection, SigmoidGatingWeighsEachExpertAlone) {
  const SelectExperts op{
      .logits = {}, .ids = {}, .weights = {}, .top_k = 2, .gating = RouterGating::sigmoid, .renormalise = false};
  const Chosen chosen = select({0, -1, 2}, 1, op);
  EXPECT_EQ(chosen.ids, (std::vector<int32_t>{2, 0}));
  EXPECT_NEAR(chosen.weights[0], 1 / (1 + std::exp(-2.0)), 1e-7);
  EXPECT_NEAR(chosen.weights[1], 0.5, 1e-7);
  SelectExperts shares = op;
  shares.renormalise = true;
  const Chosen shared = select({0, -1, 2}, 1, shares);
  EXPECT_NEAR(shared.weights[0] + shared.weights[1], 1, 1e-6);
  EXPECT_NEAR(shared.weights[0] / shared.weights[1], 2 / (1 + std::exp(-2.0)), 1e-6);
}

TEST_P(Selection, NumbersThatAreNoneStillGiveDifferentExperts) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& logits :
       {std::vector<float>(5, nan), {nan, 1, nan, -inf, 2}, std::vector<float>(5, -inf)}) {
    Chosen chosen = select(logits, 1, {.logits = {}, .ids = {}, .weights = {}, .top_k = 4});
    std::ranges::sort(chosen.ids);
    EXPECT_EQ(std::ranges::adjacent_find(chosen.ids), chosen.ids.end());
    EXPECT_GE(chosen.ids.front(), 0);
    EXPECT_LT(chosen.ids.back(), 5);
  }
}

}  // namespace
}  // namespace luce::device
