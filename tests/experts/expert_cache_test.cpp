#include "experts/expert_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace luce::experts {
namespace {

std::vector<UsedExpert> used(const std::vector<int32_t>& experts) {
  std::vector<UsedExpert> result;
  for (const int32_t expert : experts) result.push_back({expert, 1, 0, 0.25F, 0.0F});
  return result;
}

/// A cache with helpers that speak of one layer.
struct Fixture {
  explicit Fixture(std::vector<int> experts, std::vector<int> slots)
      : counters(static_cast<int>(experts.size())),
        cache({std::move(experts), std::move(slots)}, PolicySpec::parse("lru").factory(), counters) {}

  void step(const std::vector<int32_t>& experts, int layer = 0) {
    const auto list = used(experts);
    cache.begin_step({layer, 1, 0, list});
  }
  int load(int32_t expert, int layer = 0) {
    const auto slot = cache.admit(layer, expert);
    EXPECT_TRUE(slot.has_value());
    cache.loaded(*slot);
    return *slot;
  }
  bool holds(int32_t expert, int layer = 0) const { return cache.find(layer, expert) != ExpertCache::kNoSlot; }

  CounterTable counters;
  ExpertCache cache;
};

TEST(ExpertCache, FillsFreeSlotsThenEvictsTheLeastRecent) {
  Fixture f({8}, {2});
  f.step({5});
  EXPECT_EQ(f.load(5), 0);
  f.step({6});
  EXPECT_EQ(f.load(6), 1);
  f.step({5});
  f.step({7});
  EXPECT_EQ(f.load(7), 1);
  EXPECT_TRUE(f.holds(5));
  EXPECT_FALSE(f.holds(6));
  EXPECT_EQ(f.cache.resident(), 2);
}

TEST(ExpertCache, AnExpertOfTheCurrentStepIsNoVictim) {
  Fixture f({8}, {2});
  f.step({1, 2, 3});
  f.load(1);
  f.load(2);
  EXPECT_FALSE(f.cache.admit(0, 3).has_value());
  f.step({3});
  EXPECT_EQ(f.load(3), 0);
}

TEST(ExpertCache, LayersDoNotTouchEachOther) {
  Fixture f({4, 0, 4}, {1, 0, 2});
  f.step({1}, 0);
  f.step({1}, 2);
  EXPECT_EQ(f.load(1, 0), 0);
  EXPECT_EQ(f.load(1, 2), 1);
  f.step({2}, 2);
  EXPECT_EQ(f.load(2, 2), 2);
  f.step({3}, 2);
  EXPECT_EQ(f.load(3, 2), 1);
  EXPECT_TRUE(f.holds(1, 0));
}

TEST(ExpertCache, LeasedSlotsStay) {
  Fixture f({8}, {2});
  f.step({1, 2});
  Lease first = f.cache.lease(f.load(1));
  Lease second = f.cache.lease(f.load(2));
  f.step({3});
  EXPECT_FALSE(f.cache.admit(0, 3).has_value());
  Lease moved = std::move(first);
  EXPECT_FALSE(first.held());  // NOLINT(bugprone-use-after-move): a moved lease holds nothing
  EXPECT_FALSE(f.cache.admit(0, 3).has_value());
  moved.release();
  EXPECT_EQ(f.load(3), 0);
  second = Lease();
  f.step({4});
  EXPECT_EQ(f.load(4), 1);
}

TEST(ExpertCache, ALoadingSlotIsNoVictimAndNoHit) {
  Fixture f({8}, {1});
  f.step({1});
  const int slot = *f.cache.admit(0, 1);
  f.step({1});
  f.step({2});
  EXPECT_FALSE(f.cache.admit(0, 2).has_value());
  f.cache.loaded(slot);
  EXPECT_EQ(f.counters.total().all.hits, 0U);
  EXPECT_TRUE(f.cache.admit(0, 2).has_value());
}

TEST(ExpertCache, AFailedLoadFreesTheSlotWithItsLastLease) {
  Fixture f({8}, {1});
  f.step({1});
  int slot = *f.cache.admit(0, 1);
  f.cache.load_failed(slot);
  EXPECT_EQ(f.cache.free_slots(0), 1);
  slot = *f.cache.admit(0, 1);
  {
    const Lease lease = f.cache.lease(slot);
    f.cache.load_failed(slot);
    EXPECT_EQ(f.cache.state(slot), SlotState::failed);
    EXPECT_EQ(f.cache.free_slots(0), 0);
  }
  EXPECT_EQ(f.cache.free_slots(0), 1);
  EXPECT_FALSE(f.holds(1));
  EXPECT_EQ(f.cache.resident(), 0);
}

TEST(ExpertCache, CountsByRowClassAndWhatWasNeverReused) {
  Fixture f({8}, {2});
  const std::vector<UsedExpert> both = {{1, 1, 3, 0.0F, 0.0F}, {2, 0, 2, 0.0F, 0.0F}};
  f.cache.begin_step({0, 1, 3, both});
  f.load(1);
  f.load(2);
  f.cache.begin_step({0, 1, 3, std::span(both).first(1)});
  f.step({3});
  f.load(3);  // evicts 2, which had no hit
  f.step({4});
  f.load(4);  // evicts 1, which had one
  const ServiceCounters counted = f.counters.of_layer(0);
  EXPECT_EQ(counted.all.hits, 1U);
  EXPECT_EQ(counted.all.misses, 4U);
  EXPECT_EQ(counted.prompt.hits, 1U);
  EXPECT_EQ(counted.prompt.misses, 2U);
  EXPECT_EQ(counted.decode.hits, 1U);
  EXPECT_EQ(counted.decode.misses, 3U);
  EXPECT_EQ(counted.evictions, 2U);
  EXPECT_EQ(counted.never_reused, 1U);
}

TEST(ExpertCache, AdmitFreeNeverEvicts) {
  Fixture f({8}, {1});
  EXPECT_TRUE(f.cache.admit_free(0, 3).has_value());
  EXPECT_FALSE(f.cache.admit_free(0, 4).has_value());
}

/// Least recently used by the book, for one layer.
class ReferenceLru {
 public:
  explicit ReferenceLru(size_t slots) : slots_(slots) {}

  uint64_t step(const std::vector<int32_t>& experts) {
    ++now_;
    std::vector<int32_t> misses;
    for (const int32_t expert : experts) {
      last_use_[expert] = now_;
      if (!resident.contains(expert)) misses.push_back(expert);
    }
    for (const int32_t expert : misses)
      if (resident.size() < slots_ || evict()) resident.insert(expert);
    return experts.size() - misses.size();
  }

  std::set<int32_t> resident;

 private:
  bool evict() {
    const auto older = [this](int32_t a, int32_t b) { return last_use_[a] < last_use_[b]; };
    const auto oldest = std::min_element(resident.begin(), resident.end(), older);
    if (last_use_[*oldest] == now_) return false;
    resident.erase(oldest);
    return true;
  }

  size_t slots_;
  int now_ = 0;
  std::map<int32_t, int> last_use_;
};

TEST(ExpertCache, EqualsTheReferenceUnderRandomTraffic) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    const int layers = 3, experts = 2 + static_cast<int>(random() % 40);
    const int slots = 1 + static_cast<int>(random() % static_cast<unsigned>(experts));
    Fixture f(std::vector<int>(layers, experts), std::vector<int>(layers, slots));
    std::vector<ReferenceLru> reference(layers, ReferenceLru(static_cast<size_t>(slots)));
    uint64_t hits = 0;
    for (int step = 0; step < 300; ++step) {
      const int layer = static_cast<int>(random() % layers);
      std::vector<int32_t> chosen(static_cast<size_t>(experts));
      std::iota(chosen.begin(), chosen.end(), 0);
      std::shuffle(chosen.begin(), chosen.end(), random);
      chosen.resize(1 + random() % static_cast<size_t>(experts));
      f.step(chosen, layer);
      for (const int32_t expert : chosen) {
        if (f.holds(expert, layer)) continue;
        if (const auto slot = f.cache.admit(layer, expert)) f.cache.loaded(*slot);
      }
      hits += reference[static_cast<size_t>(layer)].step(chosen);
      for (int32_t expert = 0; expert < experts; ++expert)
        ASSERT_EQ(f.holds(expert, layer), reference[static_cast<size_t>(layer)].resident.contains(expert));
    }
    ASSERT_EQ(f.counters.total().all.hits, hits);
  }
}

TEST(ExpertCache, KeepsItsInvariantsWithLeasesAndFailures) {
  std::mt19937 random(11);
  Fixture f({24}, {7});
  std::map<int, Lease> leases;        // by slot
  std::map<int, int32_t> loading;     // slot -> expert
  std::map<int, int32_t> leased_for;  // slot -> expert
  for (int i = 0; i < 20'000; ++i) {
    const auto expert = static_cast<int32_t>(random() % 24);
    switch (random() % 5) {
      case 0: f.step({expert, (expert + 5) % 24}); break;
      case 1:
        if (f.holds(expert)) break;
        if (const auto slot = f.cache.admit(0, expert)) loading[*slot] = expert;
        break;
      case 2:
        if (loading.empty()) break;
        random() % 4 == 0 ? f.cache.load_failed(loading.begin()->first) : f.cache.loaded(loading.begin()->first);
        loading.erase(loading.begin());
        break;
      case 3: {
        const int slot = f.cache.find(0, expert);
        if (slot == ExpertCache::kNoSlot || f.cache.state(slot) == SlotState::failed) break;
        leases[slot] = f.cache.lease(slot);
        leased_for[slot] = expert;
        break;
      }
      default:
        if (leases.empty()) break;
        leased_for.erase(leases.begin()->first);
        leases.erase(leases.begin());
    }
    for (const auto& [slot, held] : leased_for) ASSERT_EQ(f.cache.find(0, held), slot);
    std::set<int> taken;
    for (int32_t e = 0; e < 24; ++e) ASSERT_TRUE(!f.holds(e) || taken.insert(f.cache.find(0, e)).second);
    ASSERT_EQ(static_cast<int>(taken.size()) + f.cache.free_slots(0), 7);
  }
}

}  // namespace
}  // namespace luce::experts
