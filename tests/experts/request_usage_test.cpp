// Usage by session and task tag, and what a request that starts gains by it.
#include "experts/request_usage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "experts/service_fixture.hpp"

namespace luce::experts {
namespace {

using device::RowClass;
using testing::SizeIs;

/// One step of one layer of 8 experts, top 2.
void step(RequestUsage& usage, const std::vector<RowOwner>& owners, const RoutingRows& rows) {
  RoutingDigest digest(8);
  usage.begin_step(owners);
  usage.count(digest.digest(rows.view(), 8));
  usage.end_step();
}

TEST(RequestUsage, CountsDecodedRowsForTheirOwners) {
  RequestUsage usage({8}, {});
  RoutingRows rows(0, {{6, 7}, {0, 1}, {2, 3}, {4, 5}});
  step(usage, {{1, 1, false, "s", "x"}, {2, 1, true, "", "x"}, {3, 1, true, "", ""}, {4, 1, true, "", "y"}},
       rows.set_class(0, RowClass::prompt));
  const std::vector<LabelCounts> tags = usage.tags();
  ASSERT_THAT(tags, SizeIs(2));
  EXPECT_EQ(tags[0].name, "x");
  EXPECT_EQ(tags[0].counts, (std::vector<std::vector<float>>{{1, 1, 0, 0, 0, 0, 0, 0}}));
  EXPECT_EQ(tags[1].counts, (std::vector<std::vector<float>>{{0, 0, 0, 0, 1, 1, 0, 0}}));
  EXPECT_EQ(usage.tally().sessions, 0U);  // it has decoded nothing yet
}

TEST(RequestUsage, StepsWhoseOwnersAreNotToldCountForNobody) {
  RequestUsage usage({8}, {});
  step(usage, {{1, 1, true, "", "x"}}, RoutingRows(0, {{0, 1}, {2, 3}}));
  step(usage, {}, RoutingRows(0, {{0, 1}}));
  EXPECT_EQ(usage.tags()[0].counts[0], std::vector<float>(8, 0.0F));
}

TEST(RequestUsage, EachRequestStartsOnce) {
  RequestUsage usage({8}, {});
  const RowOwner one{1, 1, false, "", "x"}, two{2, 1, true, "s", ""}, plain{3, 1, true, "", ""};
  EXPECT_THAT(usage.begin_step(std::vector{one, plain}), SizeIs(1));
  EXPECT_THAT(usage.begin_step(std::vector{one, two}), SizeIs(1));
  EXPECT_THAT(usage.begin_step(std::vector{one, two, plain}), SizeIs(0));
}

TEST(RequestUsage, ExpectsWhatSessionAndTagUsedTheSessionFirst) {
  RequestUsage usage({8}, {});
  for (int i = 0; i < 100; ++i) {
    step(usage, {{1, 1, true, "", "x"}}, RoutingRows(0, {{0, 1}}));
    step(usage, {{2, 1, true, "s", ""}}, RoutingRows(0, {{2, 3}}));
  }
  const Expectation both = usage.expect({3, 1, false, "s", "x"});
  EXPECT_GT(both.confidence, 0.8);
  EXPECT_NEAR(both.shares[0][2], 2 * both.shares[0][0], 1e-6);
  EXPECT_NEAR(both.shares[0][0] + both.shares[0][1] + both.shares[0][2] + both.shares[0][3], 1.0, 1e-6);
  EXPECT_EQ(usage.expect({3, 1, false, "", "x"}).shares[0][2], 0.0);
  EXPECT_EQ(usage.expect({3, 1, false, "", "unheard of"}).confidence, 0.0);
  EXPECT_EQ(usage.tally().warm_starts, 2U);
}

/// A layer whose requests of tag x use experts 0 to 3 and those of tag y 8 to 11, with room for six.
struct TwoTags {
  TwoTags() : fixture({{16}}, {6}, 2, "hot-score") {}

  void request(const char* tag, int32_t first, int tokens) {
    const RowOwner prompt{++sequence, 1, false, "", tag}, decode{sequence, 1, true, "", tag};
    fixture.service->begin_step(std::vector{prompt});
    while (fixture.service->fetches_ahead()) std::this_thread::yield();
    run(RoutingRows(0, {{12, 13}}, RowClass::prompt));
    const uint64_t hits_before = fixture.service->counters().decode.hits;
    for (int token = 0; token < tokens; ++token) {
      if (token == 4) first_hits += fixture.service->counters().decode.hits - hits_before;
      fixture.service->begin_step(std::vector{decode});
      run(RoutingRows(0, {{first + token % 4, first + (token + 1) % 4}}));
    }
  }
  void run(const RoutingRows& rows) {
    fixture.run(rows);
    fixture.service->end_step();
  }
  bool resident(int32_t expert) const { return fixture.service->is_resident(0, expert); }

  ServiceFixture fixture;
  uint64_t sequence = 0;
  uint64_t first_hits = 0;  // of the first four tokens of each request, eight accesses
};

TEST(RequestUsage, ARequestOfAKnownTagStartsWithItsExperts) {
  TwoTags f;
  f.request("x", 0, 60);
  f.request("y", 8, 60);
  f.first_hits = 0;
  const RowOwner starting{100, 1, false, "", "x"};
  f.fixture.service->begin_step(std::vector{starting});
  while (f.fixture.service->fetches_ahead()) std::this_thread::yield();
  for (int32_t expert = 0; expert < 4; ++expert) EXPECT_TRUE(f.resident(expert)) << expert;
  EXPECT_GE(f.fixture.service->counters().fetched_ahead, 2U);
}

TEST(RequestUsage, AlternatingTagsHitMoreThanUntaggedTraffic) {
  TwoTags tagged, plain;
  for (int round = 0; round < 6; ++round) {
    if (round == 1) tagged.first_hits = plain.first_hits = 0;
    for (const int32_t first : {0, 8}) {
      tagged.request(first == 0 ? "x" : "y", first, 60);
      plain.request("", first, 60);
    }
  }
  EXPECT_EQ(tagged.first_hits, 10U * 8U);  // five rounds of two requests, all there before it is asked for
  EXPECT_LE(plain.first_hits, 10U * 6U);
}

TEST(RequestUsage, FetchingAheadNeverTakesASlotOfTheStepThatRuns) {
  // Every placed expert's bytes are checked while fetches for other tags go on beside.
  ServiceFixture f({{32}, {32}}, {6, 6}, 2, "hot-score");
  std::mt19937 random(7);
  const char* const tags[] = {"a", "b", "c", "d"};
  for (uint64_t sequence = 1; sequence <= 300; ++sequence) {
    const size_t tag = random() % 4;
    for (int token = 0; token < 4; ++token) {
      f.service->begin_step(std::vector{RowOwner{sequence, 1, token > 0, "", tags[tag]}});
      const auto base = static_cast<int32_t>(tag * 8);
      for (int layer = 0; layer < 2; ++layer) {
        std::vector<int32_t> ids(8);
        for (int32_t i = 0; i < 8; ++i) ids[static_cast<size_t>(i)] = base + i;
        std::shuffle(ids.begin(), ids.end(), random);
        ids.resize(3);
        f.run(RoutingRows(layer, {ids}, token > 0 ? RowClass::decode : RowClass::prompt));
      }
      f.service->end_step();
    }
  }
  EXPECT_GT(f.service->counters().fetched_ahead, 100U);
}

TEST(RequestUsage, LruTakesNoticeOfNoTagAndKeepsItsOrder) {
  ServiceFixture f({{8}}, {2});
  f.service->begin_step(std::vector{RowOwner{1, 1, true, "", "x"}});
  f.run(RoutingRows(0, {{0, 1}}));
  f.service->end_step();
  f.run(RoutingRows(0, {{2, 3}}));
  f.service->begin_step(std::vector{RowOwner{2, 1, false, "", "x"}});
  while (f.service->fetches_ahead()) std::this_thread::yield();
  EXPECT_TRUE(f.service->is_resident(0, 2));
  EXPECT_EQ(f.service->counters().fetched_ahead, 0U);
}

}  // namespace
}  // namespace luce::experts
