#include "experts/hot_score.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "experts/routing_rows.hpp"
#include "experts/service_fixture.hpp"
#include "experts/trace.hpp"
#include "support/golden_path.hpp"

namespace luce::experts {
namespace {

using device::RowClass;

/// A policy that is fed rows.
struct Fed {
  explicit Fed(int count, HotScoreSettings settings = {}) : digest(count), policy(count, settings), experts(count) {}

  void step(const std::vector<std::vector<int32_t>>& rows, RowClass row_class = RowClass::decode) {
    step_mixed(RoutingRows(0, rows, row_class));
  }
  void step_mixed(const RoutingRows& rows) { policy.record(digest.digest(rows.view(), experts)); }
  double value(int32_t expert) const { return policy.keep_value(expert); }

  RoutingDigest digest;
  HotScore policy;
  int experts;
};

TEST(HotScore, UsesCountAndFade) {
  Fed f(8);
  EXPECT_EQ(f.value(1), 0.0);
  f.step({{1, 2}});
  const double fresh = f.value(1);
  EXPECT_GT(fresh, 0.0);
  EXPECT_EQ(f.value(1), f.value(2));
  EXPECT_EQ(f.value(3), 0.0);
  for (int i = 0; i < 30; ++i) f.step({{4, 5}});
  EXPECT_LT(f.value(1), fresh);
  EXPECT_GT(f.value(4), f.value(1));
  EXPECT_GT(f.value(1), 0.0);
}

TEST(HotScore, PrefersWhatUsuallyFollows) {
  Fed f(8);
  for (int i = 0; i < 40; ++i)  // 1 follows 0, 3 follows 2, one pair in two
    for (const int32_t expert : i % 2 == 0 ? std::vector<int32_t>{0, 1} : std::vector<int32_t>{2, 3})
      f.step({{expert}});
  f.step({{0}});
  EXPECT_GT(f.value(1), 1.5 * f.value(3));
  f.step({{2}});
  EXPECT_GT(f.value(3), 1.5 * f.value(1));
}

TEST(HotScore, LearnsEachSequenceByItself) {
  Fed f(8);
  for (int i = 0; i < 60; ++i) {  // two sequences out of phase: 0 1 2 3 0 .. and 2 0 3 1 2 ..
    const std::vector<int32_t> first = {0, 1, 2, 3}, second = {2, 0, 3, 1};
    f.step({{first[static_cast<size_t>(i % 4)]}, {second[static_cast<size_t>(i % 4)]}});
  }
  f.step({{7}, {2}});  // in the second sequence 0 follows 2, in the first 3 does
  EXPECT_GT(f.value(0), f.value(1));
  EXPECT_GT(f.value(3), f.value(1));
}

TEST(HotScore, APromptCountsByItsEnd) {
  Fed f(16);
  std::vector<std::vector<int32_t>> prompt(400, std::vector<int32_t>{1, 2});
  prompt.insert(prompt.end(), 40, std::vector<int32_t>{3, 4});
  f.step(prompt, RowClass::prompt);
  EXPECT_GT(f.value(3), 2.0 * f.value(1));
  f.step(std::vector<std::vector<int32_t>>(200, std::vector<int32_t>{5, 6}), RowClass::prompt);
  EXPECT_LT(f.value(3), 0.02 * f.value(5));  // the next chunk of the prompt is as old as it is long
}

TEST(HotScore, APromptAgesWhatDecodesByOneStepOnly) {
  Fed with_prompt(16), without(16);
  for (Fed* f : {&with_prompt, &without})
    for (int i = 0; i < 20; ++i) f->step({{1, 2}});
  std::vector<std::vector<int32_t>> rows(300, {5, 6});
  rows.push_back({1, 2});
  RoutingRows mixed(0, rows, RowClass::prompt);
  with_prompt.step_mixed(mixed.set_class(300, RowClass::decode));
  without.step({{1, 2}});
  EXPECT_GT(with_prompt.value(1), 0.5 * without.value(1));
}

TEST(HotScore, SeedsActAsUsesThatFade) {
  Fed f(4);
  f.policy.seed(std::vector<double>{0.0, 10.0, 5.0, 0.0});
  EXPECT_EQ(f.value(0), 0.0);
  EXPECT_DOUBLE_EQ(f.value(1), 2 * f.value(2));
  for (int i = 0; i < 24; ++i) f.step({{3}});
  EXPECT_NEAR(f.value(1) / f.value(2), 2.0, 0.2);
  EXPECT_GT(f.value(3), f.value(1));
}

TEST(HotScore, ExpectedTrafficTakesTheShareOfWhatWasCounted) {
  Fed f(4);
  for (int i = 0; i < 200; ++i) f.step({{0, 1}});
  const std::vector<double> shares = {0.0, 0.0, 1.0, 0.0};
  f.policy.expect({shares, 0.0, 1.0});  // the running sequences all begin: what came last is no context
  const double before = f.value(0);
  f.policy.expect({shares, 0.75, 1.0});
  EXPECT_NEAR(f.value(0), 0.25 * before, 1e-6 * before);
  EXPECT_GT(f.value(2), f.value(0));
  EXPECT_EQ(f.value(3), 0.0);
}

TEST(HotScore, ValuesStayFiniteAndPositiveForever) {
  HotScoreSettings settings;
  settings.transitions.half_life_rows = 3;  // rescales often
  Fed f(4, settings);
  for (int i = 0; i < 5000; ++i) f.step({{i % 4, (i + 1) % 4}});
  for (int32_t e = 0; e < 4; ++e) {
    EXPECT_TRUE(std::isfinite(f.value(e)));
    EXPECT_GT(f.value(e), 0.0);
  }
}

TEST(HotScore, KnowsItsMemory) {
  EXPECT_GE(HotScore::bytes(256), 256U * 256U * 4U);
  EXPECT_LT(HotScore::bytes(256), 300'000U);
  EXPECT_EQ(PolicySpec::parse("hot-score").bytes(256), HotScore::bytes(256));
  EXPECT_EQ(PolicySpec::parse("lru").bytes(256), 0U);
}

TEST(HotScoreService, APromptDoesNotFlushWhatDecodingNeeds) {
  ServiceFixture f({{64}}, {16}, 4, "hot-score");
  std::mt19937 random(2);
  const auto decoded = [&random] {
    const auto first = static_cast<int32_t>(random() % 8);
    return std::vector<int32_t>{first, (first + 1 + static_cast<int32_t>(random() % 7)) % 8};
  };
  for (int i = 0; i < 60; ++i) {
    f.run(RoutingRows(0, {decoded()}));
    f.service->end_step();
  }
  for (int chunk = 0; chunk < 3; ++chunk) {  // a prompt that uses everything, beside the running sequence
    std::vector<std::vector<int32_t>> rows;
    for (int32_t i = 0; i < 200; ++i) rows.push_back({(i * 7 + chunk) % 64, (i * 7 + chunk + 32) % 64});
    rows.push_back(decoded());
    RoutingRows mixed(0, rows, RowClass::prompt);
    f.run(mixed.set_class(200, RowClass::decode));
    f.service->end_step();
  }
  int kept = 0;
  for (int32_t expert = 0; expert < 8; ++expert) kept += f.service->is_resident(0, expert) ? 1 : 0;
  EXPECT_GE(kept, 7);
}

/// Decode hits of one layer over tokens 200 to 231 of a recorded sequence; `chunks` chunks of 64 rows of a prompt of
/// another task run beside tokens 196 to 199.
double hits_after_prompt(const Trace& trace, int layer, int chunks, const char* policy) {
  ServiceFixture f({{trace.experts()}}, {trace.experts() / 2}, 4, policy);
  const auto row = [&](int sequence, int64_t token) {
    const auto ids = trace.at(sequence, token, layer);
    return std::vector<int32_t>(ids.begin(), ids.end());
  };
  ServiceCounters before;
  for (int64_t token = 0; token < 232; ++token) {
    if (token == 200) before = f.service->counters();
    std::vector<std::vector<int32_t>> rows = {row(0, token)};
    const int64_t chunk = token - 196;
    for (int64_t t = 64 * chunk; chunk >= 0 && chunk < chunks && t < 64 * chunk + 64; ++t) rows.push_back(row(2, t));
    RoutingRows mixed(0, rows, RowClass::prompt);
    f.run(mixed.set_class(0, RowClass::decode));
    f.service->end_step();
  }
  const ServiceCounters after = f.service->counters();
  return static_cast<double>(after.decode.hits - before.decode.hits) / (32.0 * trace.top_k());
}

TEST(HotScoreService, ARealPromptOfAnotherTaskCostsFewHits) {
  const Trace trace = Trace::load(support::golden_path("traces/deepseek-v2-lite_switch4.lrt"));
  double with_prompt = 0.0, without = 0.0;
  for (int layer = 0; layer < trace.layers(); ++layer) {
    with_prompt += hits_after_prompt(trace, layer, 4, "hot-score") / trace.layers();
    without += hits_after_prompt(trace, layer, 0, "hot-score") / trace.layers();
  }
  EXPECT_GT(with_prompt, without - 0.05) << "without a prompt " << without;
}

TEST(HotScoreService, APromptWarmsTheCacheFromItsEndWithoutExtraFetches) {
  ServiceFixture f({{64}}, {8}, 2, "hot-score");
  for (int32_t i = 0; i < 40; ++i) f.run(RoutingRows(0, {{i % 8, (i + 1) % 8}}));
  for (int32_t i = 0; i < 8; ++i) ASSERT_TRUE(f.service->is_resident(0, i));
  std::vector<std::vector<int32_t>> rows;
  for (int32_t i = 0; i < 128; ++i) rows.push_back({i % 64, (i + 9) % 64});
  for (int32_t i = 0; i < 64; ++i) rows.push_back({40 + i % 4, 44 + i % 4});
  const int before = f.source.fetched();
  f.run(RoutingRows(0, rows, RowClass::prompt));
  EXPECT_EQ(f.source.fetched() - before, 56);
  for (int32_t expert = 40; expert < 48; ++expert) EXPECT_TRUE(f.service->is_resident(0, expert)) << expert;
}

TEST(HotScoreService, ServesMixedRandomTrafficExactly) {
  std::mt19937 random(9);
  ServiceFixture f({{24, 64}, {24, 128}}, {5, 12}, 3, "hot-score");
  for (int step = 0; step < 300; ++step) {
    for (int layer = 0; layer < 2; ++layer) {
      std::vector<std::vector<int32_t>> rows(1 + random() % 20);
      for (auto& row : rows)
        for (int32_t first = static_cast<int32_t>(random() % 8); row.size() < 3; first += 8) row.push_back(first);
      RoutingRows mixed(layer, rows, RowClass::prompt);
      for (size_t r = 0; r < rows.size(); r += 3) mixed.set_class(static_cast<int>(r), RowClass::decode);
      f.run(mixed);
    }
    f.service->end_step();
  }
  const ServiceCounters counters = f.service->counters();
  EXPECT_EQ(counters.fetches, counters.all.misses);
}

}  // namespace
}  // namespace luce::experts
