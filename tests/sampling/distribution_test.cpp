#include "sampling/distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sampling/random.hpp"

namespace luce::sampling {
namespace {

using Ids = std::set<int32_t>;

std::vector<Candidate> distribution(std::span<const float> logits, const SamplingSettings& settings) {
  Distribution computed;
  const std::span<const Candidate> candidates = computed.compute(logits, settings);
  return {candidates.begin(), candidates.end()};
}

Ids ids(const std::vector<Candidate>& candidates) {
  Ids found;
  for (const Candidate& candidate : candidates) found.insert(candidate.token);
  return found;
}

double sum(const std::vector<Candidate>& candidates) {
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.probability;
  return total;
}

std::vector<double> probabilities(const std::vector<Candidate>& candidates, size_t vocabulary) {
  std::vector<double> all(vocabulary, 0);
  for (const Candidate& candidate : candidates) all[candidate.token] = candidate.probability;
  return all;
}

const std::vector<float> kFour = {1.0f, 3.0f, 2.0f, 0.0f};

TEST(Distribution, OffValuesGiveThePlainSoftmax) {
  const double expected[] = {0.087144, 0.643914, 0.236883, 0.032059};
  for (const SamplingSettings& settings :
       {SamplingSettings{}, SamplingSettings{.top_k = 0}, SamplingSettings{.top_p = 1.0f},
        SamplingSettings{.min_p = 0.0f}, SamplingSettings{.top_k = 100}}) {
    const auto got = probabilities(distribution(kFour, settings), 4);
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], expected[i], 1e-6);
  }
}

TEST(Distribution, ValuesThatLeaveOneToken) {
  for (const SamplingSettings& settings :
       {SamplingSettings{.temperature = 0}, SamplingSettings{.temperature = -1}, SamplingSettings{.temperature = 1e-8f},
        SamplingSettings{.top_p = 0}, SamplingSettings{.top_p = 1e-9f}, SamplingSettings{.min_p = 1},
        SamplingSettings{.top_k = 1}, SamplingSettings{.top_k = 1, .top_p = 0, .min_p = 1}}) {
    const auto got = probabilities(distribution(kFour, settings), 4);
    EXPECT_EQ(got, (std::vector<double>{0, 1, 0, 0}));
  }
}

TEST(Distribution, HugeTemperatureIsUniform) {
  for (const double probability : probabilities(distribution(kFour, {.temperature = 1e9f}), 4))
    EXPECT_NEAR(probability, 0.25, 1e-6);
}

TEST(Distribution, CutsKeepExactlyTheirTokens) {
  std::vector<float> logits;
  for (const double p : {0.4, 0.3, 0.15, 0.1, 0.05}) logits.push_back(static_cast<float>(std::log(p)));
  struct Row {
    SamplingSettings settings;
    std::vector<Ids> accepted;
  };
  for (const Row& row : {Row{{.top_k = 2}, {{0, 1}}}, Row{{.top_p = 0.7f}, {{0, 1}, {0, 1, 2}}},
                         Row{{.top_p = 0.71f}, {{0, 1, 2}}}, Row{{.min_p = 0.25f}, {{0, 1, 2, 3}, {0, 1, 2}}},
                         Row{{.min_p = 0.26f}, {{0, 1, 2}}}, Row{{.top_k = 4, .top_p = 0.5f}, {{0, 1}}}}) {
    const auto got = distribution(logits, row.settings);
    EXPECT_TRUE(std::find(row.accepted.begin(), row.accepted.end(), ids(got)) != row.accepted.end());
    EXPECT_NEAR(sum(got), 1, 1e-12);
  }
}

TEST(Distribution, TiesAreCutByTheSmallerId) {
  const std::vector<float> logits(8, 1.0f);
  EXPECT_EQ(ids(distribution(logits, {.top_k = 3})), (Ids{0, 1, 2}));
  EXPECT_EQ(ids(distribution(logits, {.top_p = 0.5f})), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(ids(distribution(logits, {.temperature = 0})), (Ids{0}));
}

TEST(Distribution, KeepsNothingFromTheCallBefore) {
  Distribution computed;
  for (const SamplingSettings& settings :
       {SamplingSettings{}, SamplingSettings{.top_k = 2}, SamplingSettings{.top_p = 0.3f},
        SamplingSettings{.temperature = 0}, SamplingSettings{.min_p = 0.5f}}) {
    computed.compute(std::vector<float>(100, 2.0f), settings);
    const std::span<const Candidate> again = computed.compute(kFour, settings);
    EXPECT_EQ(ids({again.begin(), again.end()}), ids(distribution(kFour, settings)));
  }
}

TEST(Distribution, BannedTokensNeverAppear) {
  const float banned = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(ids(distribution(std::vector<float>{banned, 1, banned, 0}, {})), (Ids{1, 3}));
  EXPECT_TRUE(distribution(std::vector<float>{banned, banned}, {}).empty());
}

// The partial selection must agree with sorting everything.
TEST(Distribution, LargeVocabularyAgreesWithAFullSort) {
  Random random(5);
  std::vector<float> logits(50'000);
  for (float& logit : logits) logit = static_cast<float>(8 * random.uniform());
  std::vector<int32_t> order(logits.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return logits[a] > logits[b]; });
  double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<double>(logit));
  for (const float top_p : {0.01f, 0.3f, 0.9f, 0.999f}) {
    Ids expected;
    double reached = 0;
    for (size_t i = 0; reached < top_p; ++i) {
      reached += std::exp(static_cast<double>(logits[order[i]])) / total;
      expected.insert(order[i]);
    }
    EXPECT_EQ(ids(distribution(logits, {.top_p = top_p})), expected) << top_p;
  }
  for (const int top_k : {1, 7, 500, 50'000})
    EXPECT_EQ(ids(distribution(logits, {.top_k = top_k})), Ids(order.begin(), order.begin() + top_k)) << top_k;
}

}  // namespace
}  // namespace luce::sampling
