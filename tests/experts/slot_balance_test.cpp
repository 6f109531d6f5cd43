#include "experts/slot_balance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "experts/replay.hpp"
#include "experts/service_fixture.hpp"
#include "experts/slot_balancer.hpp"
#include "support/golden_path.hpp"

namespace luce::experts {

bool operator==(const SlotMove& a, const SlotMove& b) { return a.from == b.from && a.to == b.to; }

namespace {

LayerDemand demand(double near_misses, int slots = 10, size_t size_class = 64) {
  return {size_class, slots, 4, 20, near_misses, 1};
}

struct BalanceCase {
  const char* what;
  std::vector<LayerDemand> layers;
  std::vector<SlotMove> moves;
};

TEST(SlotBalance, MovesFromTheLeastToTheMostWorth) {
  const std::vector<BalanceCase> table = {
      {"nothing to balance", {}, {}},
      {"one layer", {demand(900)}, {}},
      {"a clear difference", {demand(900), demand(100), demand(400)}, {{1, 0}}},
      {"equal layers", {demand(500), demand(500)}, {}},
      {"within a quarter", {demand(10'000), demand(8'500)}, {}},
      {"within chance", {demand(12), demand(4)}, {}},
      {"the giver is at its floor", {demand(900), demand(100, 4), demand(400)}, {{2, 0}}},
      {"the taker has all", {demand(900, 20), demand(100), demand(400)}, {{1, 2}}},
      {"dense layers take no part", {demand(900), demand(0, 0), demand(100)}, {{2, 0}}},
      {"never between size classes", {demand(900), demand(100, 10, 128)}, {}},
      {"one in each class", {demand(900), demand(100, 10, 128), demand(100), demand(900, 10, 128)}, {{2, 0}, {1, 3}}},
  };
  for (const BalanceCase& row : table) EXPECT_EQ(balance_slots(row.layers), row.moves) << row.what;
}

TEST(SlotBalance, WorthIsPerSlotOfTheScale) {
  LayerDemand many = demand(900), few = demand(400);
  many.extra_slots = 4;
  EXPECT_EQ(balance_slots(std::vector<LayerDemand>{many, few}), (std::vector<SlotMove>{{0, 1}}));
}

TEST(SlotBalancer, KeepsTheFloorAndTheSum) {
  CounterTable counters(2);
  ExpertCache cache({{64, 64}, {20, 20}}, PolicySpec::parse("lru").factory(), counters);
  SlotBalancer balancer(cache, counters, {64, 64}, {64, 64});
  for (int look = 0; look < 200; ++look) {
    counters.add(0, CounterTable::Field::near_misses, 1000);
    balancer.advance(SlotBalancer::kTokensBetweenMoves, 4);
    ASSERT_EQ(cache.slots(0) + cache.slots(1), 40);
  }
  EXPECT_EQ(cache.slots(1), 12);  // three tokens of top 4
  EXPECT_EQ(balancer.moved(), 8);
}

TEST(SlotBalancer, MovesSlowly) {
  CounterTable counters(2);
  ExpertCache cache({{64, 64}, {40, 40}}, PolicySpec::parse("lru").factory(), counters);
  SlotBalancer balancer(cache, counters, {64, 64}, {64, 64});
  for (int token = 0; token < 640; ++token) {
    counters.add(0, CounterTable::Field::near_misses, 1000);
    balancer.advance(1, 4);
  }
  EXPECT_EQ(balancer.moved(), 640 / SlotBalancer::kTokensBetweenMoves);
}

TEST(SlotBalancer, HelpsOnRecordedTrafficAndNeverHurts) {
  for (const char* name : {"traces/gpt-oss-20b_mix8.lrt", "traces/deepseek-v2-lite_switch4.lrt"})
    for (const double share : {0.125, 0.25, 0.5, 0.6}) {
      const Trace trace = Trace::load(support::golden_path(name));
      const int slots = static_cast<int>(share * trace.experts() + 0.5);
      const double fixed = replay(trace, {"hot-score", slots, 1}).hit_ratio();
      const double moving = replay(trace, {"hot-score", slots, 1, nullptr, true}).hit_ratio();
      const bool layers_differ = share >= 0.5 && trace.experts() == 32;
      EXPECT_GE(moving, fixed + (layers_differ ? 0.004 : -0.001)) << name << " " << share;
    }
}

TEST(SlotBalancer, ServesExactlyWhileSlotsMove) {
  const FakeSource::Layer layer = {32, 64};
  CacheSettings settings;
  settings.tier.slots = {16, 16};
  settings.warmup_tokens = 1000;
  ServiceFixture f(std::make_unique<FakeSource>(std::vector<FakeSource::Layer>{layer, layer}), settings);
  std::mt19937 random(4);
  for (int step = 0; step < 4000; ++step) {
    EXPECT_TRUE(step >= 1000 || f.service->residency().slots_moved == 0);
    f.run(RoutingRows(0, {{static_cast<int32_t>(random() % 4)}}));
    f.run(RoutingRows(1, {{static_cast<int32_t>(random() % 22)}}));
    f.service->end_step();
  }
  const Residency residency = f.service->residency();
  EXPECT_GT(residency.slots_moved, 3);
  EXPECT_EQ(residency.slots, 32);
  EXPECT_LE(residency.resident, 32);
}

TEST(ExpertCacheMoves, ASlotInUseIsNotMoved) {
  CounterTable counters(2);
  ExpertCache cache({{8, 8}, {2, 2}}, PolicySpec::parse("lru").factory(), counters);
  const std::vector<UsedExpert> used = {{3, 1, 0, 0.0F, 0.0F}, {4, 1, 0, 0.0F, 0.0F}};
  cache.begin_step({0, 1, 0, used});
  for (const int32_t expert : {3, 4}) cache.loaded(*cache.admit(0, expert));
  EXPECT_FALSE(cache.move_slot(0, 1));  // both belong to the current step
  cache.begin_step({0, 1, 0, std::span(used).first(1)});
  Lease lease = cache.lease(cache.find(0, 4));
  EXPECT_FALSE(cache.move_slot(0, 1));
  lease.release();
  EXPECT_TRUE(cache.move_slot(0, 1));
  EXPECT_EQ(cache.find(0, 4), ExpertCache::kNoSlot);
  EXPECT_NE(cache.find(0, 3), ExpertCache::kNoSlot);
  EXPECT_EQ(cache.free_slots(1), 3);
  EXPECT_FALSE(cache.move_slot(0, 1));  // the last one stays
}

TEST(ExpertCacheMoves, NearMissesAreThoseOfTheLastEvicted) {
  CounterTable counters(1);
  ExpertCache cache({{8}, {2}}, PolicySpec::parse("lru").factory(), counters);
  const auto use = [&cache](int32_t expert) {
    const std::vector<UsedExpert> used = {{expert, 1, 0, 0.0F, 0.0F}};
    cache.begin_step({0, 1, 0, used});
    if (cache.find(0, expert) == ExpertCache::kNoSlot) cache.loaded(*cache.admit(0, expert));
  };
  for (const int32_t expert : {1, 2, 3, 1}) use(expert);  // 3 evicts 1, which one more slot would have kept
  EXPECT_EQ(counters.total().near_misses, 1U);
  for (const int32_t expert : {4, 5, 3}) use(expert);  // 3 was evicted two evictions before
  EXPECT_EQ(counters.total().near_misses, 1U);
}

}  // namespace
}  // namespace luce::experts
