#include "experts/slot_budget.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <thread>

#include "experts/service_fixture.hpp"

namespace luce::experts {
namespace {

constexpr size_t kSlot = 192;  // bytes of an expert of FakeSource

int slots_of(const ServiceFixture& f) { return f.service->residency().slots; }

/// A service with two layers of 16 experts, all of which have been used.
struct TwoLayers : ServiceFixture {
  TwoLayers() : ServiceFixture(std::vector<FakeSource::Layer>{{16}, {16}}, {12, 6}) {
    for (int32_t expert = 0; expert < 16; ++expert)
      for (int layer = 0; layer < 2; ++layer) run(RoutingRows(layer, {{expert}}));
    service->end_step();
  }
};

TEST(SlotBudget, GivesBytesBackAndTakesThemAgain) {
  TwoLayers f;
  EXPECT_EQ(f.service->resize_slots(9 * kSlot), 9 * kSlot);
  EXPECT_EQ(f.device.allocated_bytes(device::Purpose::expert_slots), 9 * kSlot);
  EXPECT_EQ(slots_of(f), 9);
  EXPECT_EQ(f.service->residency().resident, 9);
  EXPECT_EQ(f.service->resize_slots(18 * kSlot), 18 * kSlot);
  EXPECT_EQ(slots_of(f), 18);
  EXPECT_EQ(f.service->resize_slots(1000 * kSlot), 18 * kSlot);
}

TEST(SlotBudget, WhatStaysIsWhatThePolicyValuesMost) {
  TwoLayers f;
  f.service->resize_slots(9 * kSlot);
  int kept = 0;
  for (int32_t expert = 0; expert < 16; ++expert) kept += f.service->is_resident(0, expert) ? 1 : 0;
  EXPECT_EQ(kept, 6);
  for (int32_t expert = 10; expert < 16; ++expert) EXPECT_TRUE(f.service->is_resident(0, expert)) << expert;
  for (int32_t expert = 13; expert < 16; ++expert) EXPECT_TRUE(f.service->is_resident(1, expert)) << expert;
  const int fetched = f.source.fetched();
  f.run(RoutingRows(0, {{10, 11, 12, 13, 14, 15}}));  // looks at every byte
  f.run(RoutingRows(1, {{13, 14, 15}}));
  EXPECT_EQ(f.source.fetched(), fetched);
}

TEST(SlotBudget, EachLayerKeepsASlot) {
  TwoLayers f;
  f.service->resize_slots(0);
  EXPECT_EQ(slots_of(f), 2);
  f.run(RoutingRows(0, {{1, 2, 3}}));
  f.run(RoutingRows(1, {{1, 2, 3}}));
}

TEST(SlotBudget, SizeClassesShrinkAlike) {
  ServiceFixture f({{8, 64}, {8, 128}, {8, 64}}, {8, 8, 4});
  f.service->resize_slots((12 * kSlot + 8 * 2 * kSlot) / 2);
  EXPECT_EQ(f.device.allocated_bytes(device::Purpose::expert_slots), 6 * kSlot + 4 * 2 * kSlot);
  for (int layer = 0; layer < 3; ++layer) f.run(RoutingRows(layer, {{0, 1, 2, 3, 4, 5, 6, 7}}));
}

TEST(SlotBudget, LeasedSlotsAndTheStepsExpertsStay) {
  ServiceFixture f({{16}}, {8});
  f.run(RoutingRows(0, {{0, 1, 2, 3, 4, 5, 6, 7}}));
  const RoutingRows rows(0, {{7, 6, 5}});
  device::Dispatch& dispatch = f.service->start(rows.view());
  const auto wave = dispatch.next_wave();
  f.service->resize_slots(kSlot);  // 7 lies in the last slot and is being computed
  EXPECT_THAT(f.experts_of(0, wave), testing::UnorderedElementsAre(5, 6, 7));
  EXPECT_TRUE(dispatch.next_wave().empty());
  f.service->end_step();
  f.service->resize_slots(kSlot);
  EXPECT_EQ(slots_of(f), 3);
  for (const int32_t expert : {5, 6, 7}) EXPECT_TRUE(f.service->is_resident(0, expert));
  f.run(RoutingRows(0, {{1}}));
  f.service->end_step();
  f.service->resize_slots(kSlot);
  EXPECT_EQ(slots_of(f), 1);
  EXPECT_TRUE(f.service->is_resident(0, 1));
}

TEST(SlotBudget, LoadingSlotsStay) {
  ServiceFixture f({{16}}, {2});
  f.source.hold_back(true);
  const RoutingRows rows(0, {{3, 4}});
  device::Dispatch& dispatch = f.service->start(rows.view());
  f.source.wait_for_running(2);
  f.service->resize_slots(kSlot);
  EXPECT_EQ(slots_of(f), 2);
  f.source.hold_back(false);
  std::multiset<int32_t> served;
  for (auto wave = dispatch.next_wave(); !wave.empty(); wave = dispatch.next_wave())
    for (const int32_t expert : f.experts_of(0, wave)) served.insert(expert);
  EXPECT_EQ(served, (std::multiset<int32_t>{3, 4}));
}

// Every byte of every expert that a step computes with is looked at while slots come and go.
TEST(SlotBudget, StepsSeeTheRightBytesWhileSlotsComeAndGo) {
  ServiceFixture f({{32, 64}, {32, 128}, {32, 64}}, {24, 16, 20}, 3, "hot-score");
  std::atomic<bool> stop = false;
  std::atomic<int> resizes = 0;
  std::thread resizer([&] {
    std::mt19937 random(7);
    while (!stop) {
      f.service->resize_slots(random() % (48 * kSlot + 16 * 2 * kSlot));
      ++resizes;
    }
  });
  std::mt19937 random(3);
  int steps = 0;
  for (; steps < 300 || (resizes < 50 && steps < 20'000); ++steps) {
    for (int layer = 0; layer < 3; ++layer) {
      std::vector<int32_t> ids(32);
      std::iota(ids.begin(), ids.end(), 0);
      std::shuffle(ids.begin(), ids.end(), random);
      ids.resize(1 + random() % 12);
      f.run(RoutingRows(layer, {ids}));
    }
    f.service->end_step();
  }
  stop = true;
  resizer.join();
  EXPECT_GE(resizes, 50);
  f.service->resize_slots(SIZE_MAX);
  EXPECT_EQ(slots_of(f), 60);
}

TEST(SlotBudget, WhatCannotBeHadAgainIsSaid) {
  auto source = std::make_unique<FakeSource>(std::vector<FakeSource::Layer>{{16}});
  ServiceFixture f(std::move(source), ServiceFixture::settings_for({8}, 2, "lru"));
  f.service->resize_slots(4 * kSlot);
  f.device.limit_growth(6 * kSlot);
  EXPECT_THROW(f.service->resize_slots(8 * kSlot), Error);
  EXPECT_EQ(slots_of(f), 6);
  f.run(RoutingRows(0, {{0, 1, 2, 3, 4, 5, 6, 7}}));
}

}  // namespace
}  // namespace luce::experts
