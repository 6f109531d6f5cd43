#include "experts/warm_up.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "experts/service_fixture.hpp"

namespace luce::experts {
namespace {

TEST(WarmUp, LoadsEverythingWithProgress) {
  ServiceFixture f({{8}, {0}, {4}}, {8, 0, 4});
  std::vector<WarmProgress> seen;
  const WarmResult result = f.service->warm({{}, 1.0, [&](const WarmProgress& p) { seen.push_back(p); }, nullptr});
  EXPECT_EQ(result.loaded, 12);
  EXPECT_EQ(result.failed, 0);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(f.service->residency().resident, 12);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().loaded, 12);
  EXPECT_EQ(seen.back().wanted, 12);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end(), [](auto& a, auto& b) { return a.loaded < b.loaded; }));
  f.run(RoutingRows(0, {{0, 1, 2}, {5, 6, 7}}));
  EXPECT_EQ(f.service->counters().all.misses, 0U);
}

TEST(WarmUp, FillsLayersEvenly) {
  ServiceFixture f({{8}, {8}}, {4, 4});
  EXPECT_EQ(f.service->warm({{}, 0.5, {}, nullptr}).loaded, 4);
  for (int layer = 0; layer < 2; ++layer)
    for (int32_t expert = 0; expert < 8; ++expert)
      EXPECT_EQ(f.service->is_resident(layer, expert), expert < 2) << layer << " " << expert;
}

TEST(WarmUp, FollowsARankingAndSkipsWhatDoesNotFit) {
  ServiceFixture f({{8}, {8}}, {2, 3});
  f.run(RoutingRows(0, {{6}}));
  const std::vector<ExpertId> ranking = {{0, 6}, {0, 4}, {0, 3}, {9, 1}, {1, 99}, {1, -1}, {1, 7}, {1, 7}};
  EXPECT_EQ(f.service->warm({ranking, 1.0, {}, nullptr}).loaded, 2);
  EXPECT_TRUE(f.service->is_resident(0, 6));
  EXPECT_TRUE(f.service->is_resident(0, 4));
  EXPECT_FALSE(f.service->is_resident(0, 3));
  EXPECT_TRUE(f.service->is_resident(1, 7));
  EXPECT_EQ(f.service->counters().evictions, 0U);
}

TEST(WarmUp, StopsWhenTold) {
  ServiceFixture f({{64}}, {64});
  std::atomic<bool> stop{false};
  const auto stop_at_ten = [&](const WarmProgress& p) { stop = p.loaded >= 10; };
  const WarmResult result = f.service->warm({{}, 1.0, stop_at_ten, &stop});
  EXPECT_TRUE(result.stopped);
  EXPECT_GE(result.loaded, 10);
  EXPECT_LT(result.loaded, 64);
}

TEST(WarmUp, CountsFailuresAndGoesOn) {
  ServiceFixture f({{8}}, {8});
  f.source.set_failing({{0, 3}, {0, 4}});
  const WarmResult result = f.service->warm({});
  EXPECT_EQ(result.loaded, 6);
  EXPECT_EQ(result.failed, 2);
  ASSERT_TRUE(result.first_failure.has_value());
  EXPECT_EQ(result.first_failure->kind, ErrorKind::io);
  f.source.set_failing({});
  f.run(RoutingRows(0, {{3, 4}}));
  EXPECT_EQ(f.service->residency().resident, 8);
}

TEST(WarmUp, RunsBesideSteps) {
  for (int round = 0; round < 10; ++round) {
    ServiceFixture f({{32}, {32}}, {24, 24});
    std::thread warming([&] { f.service->warm({}); });
    for (int32_t step = 0; step < 40; ++step) {
      f.run(RoutingRows(0, {{step % 32, (step + 11) % 32, (step + 5) % 32}}));
      f.run(RoutingRows(1, {{step % 32, (step + 3) % 32, (step + 9) % 32}}));
      f.service->end_step();
    }
    warming.join();
    EXPECT_EQ(f.service->residency().resident, 48);
  }
}

TEST(WarmUp, AStepJoinsAFetchThatWarmingStarted) {
  ServiceFixture f({{4}}, {4});
  f.source.hold_back(true);
  std::thread warming([&] { f.service->warm({{{0, 2}}, 1.0, {}, nullptr}); });
  f.source.wait_for_running(1);
  const RoutingRows rows(0, {{2}});
  device::Dispatch& dispatch = f.service->start(rows.view());
  f.source.hold_back(false);
  EXPECT_EQ(f.experts_of(0, dispatch.next_wave()), std::vector<int32_t>{2});
  warming.join();
  EXPECT_EQ(f.source.fetched(), 1);
  EXPECT_EQ(f.service->counters().all.misses, 1U);
}

}  // namespace
}  // namespace luce::experts
