#include "experts/replay.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "support/golden_path.hpp"

namespace luce::experts {
namespace {

struct GoldenRow {
  std::string trace, policy;
  int slots = 0;
  int64_t accesses = 0, hits = 0, uploads = 0;
};

/// The names in golden.csv as replay calls them.
std::string policy_name(const std::string& golden) {
  static const std::map<std::string, std::string> kPrefixes = {{"decay h=", "decay:"},
                                                               {"decay-bypass h=", "decay-gated:"},
                                                               {"ClassLRU h=", "class-lru:"},
                                                               {"crf/age h=", "age-crf:"},
                                                               {"LRU", "lru"},
                                                               {"OPT", "opt"}};
  for (const auto& [prefix, name] : kPrefixes)
    if (golden.starts_with(prefix)) return name + golden.substr(prefix.size());
  throw std::runtime_error("golden.csv names an unknown policy: " + golden);
}

std::vector<GoldenRow> golden_rows() {
  std::ifstream file(support::golden_path("traces/golden.csv"));
  std::vector<GoldenRow> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    GoldenRow row;
    char comma = 0;
    std::getline(fields, row.trace, ',');
    std::getline(fields, row.policy, ',');
    fields >> row.slots >> comma >> row.accesses >> comma >> row.hits >> comma >> row.uploads;
    rows.push_back(row);
  }
  return rows;
}

TEST(Replay, ReproducesEveryGoldenRow) {
  std::map<std::string, Trace> traces;
  const std::vector<GoldenRow> rows = golden_rows();
  ASSERT_EQ(rows.size(), 200U);
  for (const GoldenRow& row : rows) {
    if (!traces.contains(row.trace))
      traces.emplace(row.trace, Trace::load(support::golden_path("traces/" + row.trace + ".lrt")));
    const ReplayResult result = replay(traces.at(row.trace), {policy_name(row.policy), row.slots, 1});
    EXPECT_EQ(result.accesses, row.accesses) << row.trace << " " << row.policy << " " << row.slots;
    EXPECT_EQ(result.hits, row.hits) << row.trace << " " << row.policy << " " << row.slots;
    EXPECT_EQ(result.uploads, row.uploads) << row.trace << " " << row.policy << " " << row.slots;
  }
}

/// One layer, one id a token; several sequences.
Trace line_trace(const std::vector<std::vector<uint16_t>>& sequences) {
  Trace trace(1, 8, 1);
  for (const auto& sequence : sequences) {
    trace.add_sequence();
    for (const uint16_t id : sequence) trace.add_token(std::span(&id, 1));
  }
  return trace;
}

struct PolicyCase {
  const char* policy;
  int slots;
  int64_t hits, uploads;
};

TEST(Replay, FollowsTheRulesOnALineThatCanBeCheckedByHand) {
  const Trace trace = line_trace({{0, 1, 0, 2, 0, 1, 3, 0, 1}});
  for (const PolicyCase& row :
       std::initializer_list<PolicyCase>{{"lru", 2, 2, 7},  // 0 at its 2nd and 3rd use
                                         {"lfu", 2, 3, 6},  // 0 always
                                         {"opt", 2, 3, 6},
                                         {"opt-bypass", 2, 5, 2},  // keeps 0 and 1, never admits 2 and 3
                                         {"decay-gated:32", 2, 4, 4},
                                         {"lru", 8, 5, 4}})
    for (const int streams : {1, 3}) {  // a single sequence is one stream whatever is asked
      const ReplayResult result = replay(trace, {row.policy, row.slots, streams});
      EXPECT_EQ(result.accesses, 9) << row.policy;
      EXPECT_EQ(result.hits, row.hits) << row.policy;
      EXPECT_EQ(result.uploads, row.uploads) << row.policy;
    }
}

TEST(Replay, OneAccessPerDistinctExpertOfAStep) {
  const Trace trace = line_trace({{0, 1, 0}, {0, 2, 0}, {5, 3, 0}});
  const ReplayResult result = replay(trace, {"lru", 8, 3});  // steps {0 5} {1 2 3} {0}
  EXPECT_EQ(result.accesses, 6);
  EXPECT_EQ(result.hits, 1);
}

TEST(Replay, WhatExceedsTheSlotsStreamsThrough) {
  const Trace trace = line_trace({{0, 0}, {1, 1}, {2, 2}});
  const ReplayResult result = replay(trace, {"lru", 2, 3});  // 0 and 1 are admitted, 2 passes through twice
  EXPECT_EQ(result.hits, 2);
  EXPECT_EQ(result.uploads, 4);
}

TEST(Replay, KnowingTheFutureIsNeverWorse) {
  for (const char* name : {"gpt-oss-20b_mix8", "deepseek-v2-lite_switch4", "gemma4-26b-a4b_top6_decode128"}) {
    const Trace trace = Trace::load(support::golden_path(std::string("traces/") + name + ".lrt"));
    for (const int share : {8, 4, 2}) {
      const int slots = trace.experts() / share;
      const auto hits = [&](const char* policy) { return replay(trace, {policy, slots, 1}).hits; };
      const int64_t best = hits("opt");
      EXPECT_GE(hits("opt-bypass"), best);
      for (const char* policy : {"lru", "lfu", "decay:16", "class-lru:64"}) EXPECT_LE(hits(policy), best) << policy;
    }
  }
}

TEST(Replay, RefusesWrongUsage) {
  const Trace trace = line_trace({{0, 1}});
  for (const ReplaySettings& wrong : std::initializer_list<ReplaySettings>{{"lru", 0, 1},
                                                                           {"lru", 9, 1},
                                                                           {"lru", 4, 0},
                                                                           {"lru:3", 4, 1},
                                                                           {"decay", 4, 1},
                                                                           {"decay:", 4, 1},
                                                                           {"decay:0", 4, 1},
                                                                           {"decay:-1", 4, 1},
                                                                           {"decay:nan", 4, 1},
                                                                           {"decay:1e999", 4, 1},
                                                                           {"decay:8x", 4, 1},
                                                                           {"", 4, 1},
                                                                           {"belady", 4, 1}})
    EXPECT_THROW(replay(trace, wrong), Error) << wrong.policy;
}

}  // namespace
}  // namespace luce::experts
