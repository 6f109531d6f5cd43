#include "experts/budget_rule.hpp"

#include <gtest/gtest.h>

namespace luce::experts {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr BudgetSettings kSettings{6400 * kMiB, 256 * kMiB};

/// A rule whose wishes are done at once.
struct Machine {
  BudgetVerdict look(MemorySigns signs) {
    signs.now_seconds = seconds;
    const BudgetVerdict verdict = rule.look(signs, slot_bytes);
    slot_bytes = verdict.slot_bytes;
    return verdict;
  }
  BudgetVerdict look_after(double passed, const MemorySigns& signs) {
    seconds += passed;
    return look(signs);
  }

  BudgetRule rule{kSettings};
  int64_t slot_bytes = kSettings.planned_bytes;
  double seconds = 0;
};

MemorySigns available(int64_t mebibytes) { return {.available_bytes = mebibytes * kMiB}; }

TEST(BudgetRule, NothingHappensWhileThereIsRoom) {
  Machine machine;
  for (const int64_t free : {256, 100, 64, 5000}) {
    const BudgetVerdict verdict = machine.look_after(1, available(free));
    EXPECT_EQ(verdict.slot_bytes, kSettings.planned_bytes);
    EXPECT_EQ(verdict.shortage, Shortage::none) << free;
  }
}

TEST(BudgetRule, TheReserveIsFilledAgainWhenAQuarterOfItIsLeft) {
  Machine machine;
  EXPECT_EQ(machine.look(available(63)).shortage, Shortage::memory);
  EXPECT_EQ(machine.slot_bytes, (6400 - (256 - 63)) * kMiB);
  EXPECT_EQ(machine.look_after(0.1, available(127)).shortage, Shortage::memory);  // half of it ends the shortage
  EXPECT_EQ(machine.look_after(0.1, available(128)).shortage, Shortage::none);
}

TEST(BudgetRule, WhatCouldNotGoYetIsNotAskedForTwice) {
  BudgetRule rule(kSettings);
  const int64_t first = rule.look(available(10), kSettings.planned_bytes).slot_bytes;
  EXPECT_EQ(rule.look(available(10), kSettings.planned_bytes).slot_bytes, first);
  EXPECT_EQ(rule.look(available(20), kSettings.planned_bytes - 10 * kMiB).slot_bytes, first);
}

TEST(BudgetRule, NoMoreGoesThanThereIs) {
  BudgetRule rule({10 * kMiB, 256 * kMiB});
  EXPECT_EQ(rule.look(available(0), 10 * kMiB).slot_bytes, 0);
  BudgetRule dense({0, 256 * kMiB});
  const BudgetVerdict verdict = dense.look(available(0), 0);
  EXPECT_EQ(verdict.slot_bytes, 0);
  EXPECT_EQ(verdict.shortage, Shortage::memory);
}

TEST(BudgetRule, SlotsComeBackSlowlyAndOnlyWhileTheReserveStaysFree) {
  Machine machine;
  machine.look(available(0));
  const int64_t least = machine.slot_bytes;
  machine.look_after(29, available(4000));
  EXPECT_EQ(machine.slot_bytes, least);
  machine.look_after(2, available(4000));
  const int64_t step = machine.slot_bytes - least;
  EXPECT_EQ(step, kSettings.planned_bytes / 32 + 1);
  machine.look_after(4, available(4000));
  EXPECT_EQ(machine.slot_bytes, least + step);
  machine.look_after(2, available(256));
  EXPECT_EQ(machine.slot_bytes, least + step);
  for (int i = 0; i < 100; ++i) machine.look_after(6, available(4000));
  EXPECT_EQ(machine.slot_bytes, kSettings.planned_bytes);
}

TEST(BudgetRule, SwapInUseTakesSlotsOnceAndAgainIfItGrows) {
  Machine machine;
  MemorySigns signs = available(5000);
  signs.swapped_bytes = 15 * kMiB;
  EXPECT_EQ(machine.look(signs).shortage, Shortage::none);
  signs.swapped_bytes = 100 * kMiB;
  EXPECT_EQ(machine.look_after(1, signs).shortage, Shortage::swap);
  EXPECT_EQ(machine.slot_bytes, 6300 * kMiB);
  for (int i = 0; i < 5; ++i) {
    signs.swap_moves += 1000;  // pages come back
    EXPECT_EQ(machine.look_after(11, signs).shortage, Shortage::swap);
  }
  EXPECT_EQ(machine.slot_bytes, 6300 * kMiB);
  signs.swapped_bytes = 2000 * kMiB;
  machine.look_after(11, signs);
  EXPECT_EQ(machine.slot_bytes, (6300 - 800) * kMiB);
  signs.swapped_bytes = 2100 * kMiB;
  machine.look_after(5, signs);
  EXPECT_EQ(machine.slot_bytes, (6300 - 800) * kMiB);
  EXPECT_EQ(machine.look_after(59, signs).shortage, Shortage::swap);
  EXPECT_EQ(machine.look_after(2, signs).shortage, Shortage::none) << "nothing has moved for a minute";
}

TEST(BudgetRule, PressureTakesAtMostHalf) {
  Machine machine;
  MemorySigns signs = available(5000);
  signs.stalled_percent = 9;
  EXPECT_EQ(machine.look(signs).shortage, Shortage::none);
  signs.stalled_percent = 10;
  EXPECT_EQ(machine.look_after(1, signs).shortage, Shortage::pressure);
  EXPECT_EQ(machine.slot_bytes, 6000 * kMiB);
  machine.look_after(1, signs);
  EXPECT_EQ(machine.slot_bytes, 6000 * kMiB);
  signs.stalled_percent = 5;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(machine.look_after(10, signs).shortage, Shortage::pressure);
  EXPECT_EQ(machine.slot_bytes, 3200 * kMiB);
  signs.stalled_percent = 4;
  EXPECT_EQ(machine.look_after(1, signs).shortage, Shortage::none);
}

}  // namespace
}  // namespace luce::experts
