#include "experts/cached_expert_service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "base/error.hpp"
#include "experts/hot_score.hpp"
#include "experts/service_fixture.hpp"

namespace luce::experts {
namespace {

using device::RowClass;

TEST(CachedExpertService, ResidentExpertsComeAtOnceInTheFirstWave) {
  ServiceFixture f({{8}}, {4});
  f.run(RoutingRows(0, {{1, 2}}));
  EXPECT_EQ(f.run(RoutingRows(0, {{2, 1}})), (std::vector<std::vector<int32_t>>{{2, 1}}));
  EXPECT_EQ(f.source.fetched(), 2);
  const ServiceCounters counters = f.service->counters();
  EXPECT_EQ(counters.all.hits, 2U);
  EXPECT_EQ(counters.all.misses, 2U);
  EXPECT_EQ(counters.bytes_fetched, 2 * f.source.fetch_bytes(0));
}

TEST(CachedExpertService, MissesAreFetchedWhileTheFirstWaveRuns) {
  ServiceFixture f({{8}}, {4});
  f.run(RoutingRows(0, {{1}}));
  f.source.hold_back(true);
  const RoutingRows rows(0, {{5, 1, 6}});
  device::Dispatch& dispatch = f.service->start(rows.view());
  f.source.wait_for_running(2);
  EXPECT_EQ(f.experts_of(0, dispatch.next_wave()), std::vector<int32_t>{1});
  f.source.hold_back(false);
  std::set<int32_t> rest;
  for (auto wave = dispatch.next_wave(); !wave.empty(); wave = dispatch.next_wave())
    for (const int32_t expert : f.experts_of(0, wave)) rest.insert(expert);
  EXPECT_EQ(rest, (std::set<int32_t>{5, 6}));
}

TEST(CachedExpertService, OneSlotServesAnyRouting) {
  ServiceFixture f({{16}}, {1}, 1);
  for (int step = 0; step < 20; ++step) f.run(RoutingRows(0, {{0, 1, 2, 3}, {4, 5, 6, 7}, {15, 3, 2, 8}}));
  const ServiceCounters counters = f.service->counters();
  EXPECT_EQ(counters.all.accesses(), 20U * 10U);
  EXPECT_EQ(counters.all.hits, 19U);  // the one that has the slot is never pushed out by its own step
  EXPECT_EQ(counters.evictions, 0U);
  EXPECT_EQ(counters.streamed, 180U);
}

TEST(CachedExpertService, AChunkLargerThanTheSlotsEvictsNothingItUses) {
  ServiceFixture f({{32}}, {4});
  f.run(RoutingRows(0, {{10, 11, 12, 13}}));
  std::vector<std::vector<int32_t>> chunk;
  for (int32_t e = 0; e < 32; e += 4) chunk.push_back({e, e + 1, e + 2, e + 3});
  const auto waves = f.run(RoutingRows(0, chunk, RowClass::prompt));
  EXPECT_THAT(waves.front(), testing::UnorderedElementsAre(10, 11, 12, 13));
  EXPECT_EQ(f.run(RoutingRows(0, {{10, 11, 12, 13}})).size(), 1U);
  EXPECT_EQ(f.service->counters().evictions, 0U);
  EXPECT_EQ(f.service->counters().streamed, 28U);
}

TEST(CachedExpertService, CountsAccessesByRowClass) {
  ServiceFixture f({{8}}, {8});
  RoutingRows mixed(0, {{1, 2}, {2, 3}});
  mixed.set_class(0, RowClass::prompt);
  f.run(mixed);
  f.run(mixed);
  const ServiceCounters counters = f.service->counters();
  EXPECT_EQ(counters.all.misses, 3U);
  EXPECT_EQ(counters.all.hits, 3U);
  EXPECT_EQ(counters.prompt.misses, 2U);
  EXPECT_EQ(counters.decode.hits, 2U);
  EXPECT_EQ(f.service->usage().total(0, 2).prompt, 2U);
  EXPECT_EQ(f.service->usage().total(0, 2).decode, 2U);
}

TEST(CachedExpertService, AFailedReadEndsTheDispatchAndNothingElse) {
  ServiceFixture f({{8}}, {4});
  f.run(RoutingRows(0, {{1, 2}}));
  f.source.set_failing({{0, 5}});
  const RoutingRows rows(0, {{1, 5, 6}});
  try {
    f.run(rows);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_STREQ(error.what(), "cannot read expert 5 of layer 0");
  }
  f.service->end_step();
  f.run(RoutingRows(0, {{1, 2, 6}}));
  EXPECT_THROW(f.run(rows), Error);
  f.source.set_failing({});
  f.run(rows);
  EXPECT_EQ(f.service->counters().fetch_errors, 2U);
  EXPECT_FALSE(f.service->is_resident(0, 7));
}

TEST(CachedExpertService, AFailedStreamIsReportedToo) {
  ServiceFixture f({{8}}, {1}, 1);
  f.source.set_failing({{0, 5}});
  EXPECT_THROW(f.run(RoutingRows(0, {{1, 2, 3, 4, 5, 6}})), Error);
  f.source.set_failing({});
  f.run(RoutingRows(0, {{1, 2, 3, 4, 5, 6}}));
}

TEST(CachedExpertService, AnAbandonedDispatchLeavesNothingPinned) {
  ServiceFixture f({{8}}, {1}, 1);
  for (int round = 0; round < 50; ++round) {
    const RoutingRows rows(0, {{0, 1, 2, 3}});
    device::Dispatch& dispatch = f.service->start(rows.view());
    if (round % 2 == 0) dispatch.next_wave();
    if (round % 3 == 0) f.service->end_step();
  }
  f.run(RoutingRows(0, {{4, 5, 6, 7}}));
}

TEST(CachedExpertService, RefusesExpertsThatDoNotExist) {
  ServiceFixture f({{8}}, {2});
  for (const int32_t bad : {-2, 8, 1 << 30}) {
    const RoutingRows rows(0, {{1, bad}});
    EXPECT_THROW(f.service->start(rows.view()), Error);
  }
  f.run(RoutingRows(0, {{1, 7}}));
}

TEST(CachedExpertService, TakesAllItsMemoryAtTheStart) {
  ServiceFixture f({{8, 64}, {0}, {8, 128}, {8, 64}}, {2, 0, 3, 4}, 2);
  const size_t before = f.device.total();
  EXPECT_EQ(f.device.allocated_bytes(device::Purpose::expert_slots), 6 * 192U + 3 * 384U);
  EXPECT_EQ(f.device.allocated_bytes(device::Purpose::staging), 2 * 384U);
  EXPECT_EQ(f.service->memory().slot_bytes, 6 * 192U + 3 * 384U);
  EXPECT_EQ(f.service->memory().stream_bytes, 2 * 384U);
  EXPECT_EQ(f.service->memory().read_buffer_bytes, 2 * 16U);
  EXPECT_EQ(staging_bytes(f.source, 2, 2), 2 * 384U + 2 * 16U);
  CacheSettings settings;
  settings.tier.stream_slots = 2;
  settings.tier.policy = PolicySpec::parse("hot-score");
  EXPECT_EQ(fixed_bytes(f.source, settings), staging_bytes(f.source, 2, 2) + 3 * HotScore::bytes(8) + Usage::bytes(24) +
                                                 RequestUsage::bytes(24, settings.requests));
  for (int layer : {0, 2, 3}) f.run(RoutingRows(layer, {{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(f.device.total(), before);
  f.service.reset();
  EXPECT_EQ(f.device.total(), 0U);
}

TEST(CachedExpertService, TheGateWaitsForTheWarmUp) {
  for (const char* const policy : {"hot-score-gated", "decay-gated:32"}) {
    CacheSettings settings = ServiceFixture::settings_for({2}, 2, policy);
    settings.warmup_tokens = 12;
    ServiceFixture f(std::make_unique<FakeSource>(std::vector<FakeSource::Layer>{{8}}), settings);
    const auto step = [&f](int32_t a, int32_t b) {
      f.run(RoutingRows(0, {{a, b}}));
      f.service->end_step();
    };
    for (int token = 0; token < 11; ++token) step(0, 1);
    step(2, 3);  // the twelfth token: still admitted, however little it is worth
    EXPECT_TRUE(f.service->is_resident(0, 2) && f.service->is_resident(0, 3)) << policy;
    EXPECT_EQ(f.service->counters().streamed, 0U) << policy;
    step(0, 1);
    for (int token = 0; token < 10; ++token) step(0, 1);
    step(4, 5);
    EXPECT_FALSE(f.service->is_resident(0, 4) || f.service->is_resident(0, 5)) << policy;
    EXPECT_EQ(f.service->counters().streamed, 2U) << policy;
  }
}

TEST(CachedExpertService, RefusesWhatTheDeviceCannotHold) {
  FakeDevice small(1000);
  CacheSettings settings;
  settings.tier.slots = {8};
  try {
    CachedExpertService service(std::make_unique<FakeSource>(std::vector<FakeSource::Layer>{{8, 64}}), small, settings);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
  }
  EXPECT_EQ(small.total(), 0U);
}

/// Random rows over random caches; ServiceFixture::run checks every byte of every wave.
TEST(CachedExpertService, ServesRandomTrafficExactly) {
  std::mt19937 random(3);
  for (int round = 0; round < 25; ++round) {
    const int experts = 4 + static_cast<int>(random() % 28);
    const int slots = 1 + static_cast<int>(random() % static_cast<unsigned>(experts));
    ServiceFixture f({{experts, 64}, {experts, 192}}, {slots, 1}, 1 + static_cast<int>(random() % 4));
    uint64_t accesses = 0;
    for (int step = 0; step < 60; ++step) {
      for (int layer = 0; layer < 2; ++layer) {
        std::vector<std::vector<int32_t>> rows(1 + random() % 6);
        std::set<int32_t> distinct;
        for (auto& row : rows) {
          std::vector<int32_t> all(static_cast<size_t>(experts));
          std::iota(all.begin(), all.end(), 0);
          std::shuffle(all.begin(), all.end(), random);
          row.assign(all.begin(), all.begin() + 3);
          distinct.insert(row.begin(), row.end());
        }
        f.run(RoutingRows(layer, rows));
        accesses += distinct.size();
      }
      f.service->end_step();
    }
    const ServiceCounters counters = f.service->counters();
    ASSERT_EQ(counters.all.accesses(), accesses);
    ASSERT_EQ(counters.fetches, counters.all.misses);
    ASSERT_EQ(static_cast<int>(counters.fetches), f.source.fetched());
    const Residency residency = f.service->residency();
    ASSERT_LE(residency.resident, residency.slots);
    ASSERT_EQ(counters.fetches - counters.streamed - counters.evictions, static_cast<uint64_t>(residency.resident));
  }
}

TEST(CachedExpertService, CountersCanBeReadBesideSteps) {
  ServiceFixture f({{16}, {16}}, {4, 4});
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    uint64_t last = 0;
    while (!stop) {
      const uint64_t accesses = f.service->counters().all.accesses();
      EXPECT_GE(accesses, last);
      last = accesses;
      EXPECT_LE(f.service->residency().resident, 8);
      f.service->usage().in_window(1, 3);
    }
  });
  for (int32_t step = 0; step < 400; ++step) {
    f.run(RoutingRows(0, {{step % 16, (step + 7) % 16}}));
    f.run(RoutingRows(1, {{step % 16, (step * 3 + 1) % 16}}));
    f.service->end_step();
  }
  stop = true;
  reader.join();
}

}  // namespace
}  // namespace luce::experts
