#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experts/replay.hpp"
#include "support/golden_path.hpp"

namespace luce::experts {
namespace {

using Profile = std::vector<std::vector<double>>;

const Trace& golden_trace(const std::string& name) {
  static std::map<std::string, Trace> traces;
  const auto found = traces.find(name);
  if (found != traces.end()) return found->second;
  return traces.emplace(name, Trace::load(support::golden_path("traces/" + name + ".lrt"))).first->second;
}

const std::vector<std::string> kTraces = {"gpt-oss-20b_mix8",
                                          "gpt-oss-20b_mix48_decode",
                                          "deepseek-v2-lite_switch4",
                                          "qwen3-30b-a3b_top6_decode128",
                                          "gemma4-26b-a4b_top6_decode128",
                                          "gpt-oss-120b_top2_decode64"};

int slots_at(const Trace& trace, double share) { return static_cast<int>(std::lround(share * trace.experts())); }

/// The share of the gap from LRU to OPT that hot-score closes, averaged over all traces with at least so many sequences
/// and over 12.5, 25, 50 and 60 % resident, where that gap is above half a point.
double mean_gap_closed(int streams) {
  double sum = 0.0;
  int points = 0;
  for (const std::string& name : kTraces) {
    const Trace& trace = golden_trace(name);
    if (trace.sequences() < streams) continue;
    for (const double share : {0.125, 0.25, 0.5, 0.6}) {
      const int slots = slots_at(trace, share);
      const double lru = replay(trace, {"lru", slots, streams}).hit_ratio();
      const double opt = replay(trace, {"opt", slots, streams}).hit_ratio();
      const double hot = replay(trace, {"hot-score", slots, streams}).hit_ratio();
      EXPECT_GE(hot, lru - 0.01) << name << " at " << share << " with " << streams << " streams";
      if (opt - lru <= 0.005) continue;
      sum += (hot - lru) / (opt - lru);
      ++points;
    }
  }
  return sum / points;
}

TEST(HotScoreTargets, OneStream) { EXPECT_GE(mean_gap_closed(1), 0.24); }
TEST(HotScoreTargets, FourStreams) { EXPECT_GE(mean_gap_closed(4), 0.36); }
TEST(HotScoreTargets, EightStreams) { EXPECT_GE(mean_gap_closed(8), 0.45); }

TEST(HotScoreTargets, TheGateSavesUploadsAndKeepsHits) {
  for (const char* name : {"gpt-oss-20b_mix8", "gpt-oss-20b_mix48_decode", "deepseek-v2-lite_switch4"})
    for (const double share : {0.5, 0.6}) {
      const Trace& trace = golden_trace(name);
      const ReplayResult lru = replay(trace, {"lru", slots_at(trace, share), 1});
      const ReplayResult gated = replay(trace, {"hot-score-gated", slots_at(trace, share), 1});
      EXPECT_LE(static_cast<double>(gated.uploads), 0.55 * static_cast<double>(lru.uploads)) << name << " " << share;
      EXPECT_GE(gated.hit_ratio(), lru.hit_ratio() - 0.01) << name << " " << share;
    }
}

void add_counts(const Trace& trace, int sequence, Profile& profile) {
  for (int64_t token = 0; token < trace.length(sequence); ++token)
    for (int layer = 0; layer < trace.layers(); ++layer)
      for (const uint16_t expert : trace.at(sequence, token, layer)) profile[static_cast<size_t>(layer)][expert] += 1.0;
}

Trace first_tokens(const Trace& trace, int sequence, int64_t tokens) {
  Trace cut(trace.layers(), trace.experts(), trace.top_k());
  cut.add_sequence();
  std::vector<uint16_t> ids;
  for (int64_t token = 0; token < std::min(tokens, trace.length(sequence)); ++token) {
    ids.clear();
    for (int layer = 0; layer < trace.layers(); ++layer)
      for (const uint16_t expert : trace.at(sequence, token, layer)) ids.push_back(expert);
    cut.add_token(ids);
  }
  return cut;
}

double hits_of_first(const Trace& trace, int sequence, int64_t tokens, const Profile* profile) {
  return replay(first_tokens(trace, sequence, tokens), {"hot-score", slots_at(trace, 0.6), 1, profile}).hit_ratio();
}

Profile empty_profile(const Trace& trace) {
  return Profile(static_cast<size_t>(trace.layers()), std::vector<double>(static_cast<size_t>(trace.experts())));
}

TEST(WarmStart, AProfileOfHalfTheSequencesServesTheOtherHalf) {
  const Trace& trace = golden_trace("gpt-oss-20b_mix48_decode");
  std::map<int64_t, double> sum;
  for (const int parity : {0, 1}) {
    Profile profile = empty_profile(trace);
    for (int s = parity; s < trace.sequences(); s += 2) add_counts(trace, s, profile);
    for (int s = 1 - parity; s < trace.sequences(); s += 2)
      for (const int64_t tokens : {8, 32}) sum[tokens] += hits_of_first(trace, s, tokens, &profile);
  }
  EXPECT_GE(sum[8] / trace.sequences(), 0.845);
  EXPECT_GE(sum[32] / trace.sequences(), 0.898);
}

TEST(WarmStart, AForeignProfileDoesNotHurt) {
  const Trace& trace = golden_trace("gpt-oss-20b_mix48_decode");
  const std::vector<int64_t> lengths = {2, 16, 128};
  for (int source = 0; source < trace.sequences(); source += 6) {
    Profile profile = empty_profile(trace);
    add_counts(trace, source, profile);
    for (const int64_t tokens : lengths) {
      double difference = 0.0;
      for (int s = 1; s < trace.sequences(); s += 8)
        if (s != source)
          difference += hits_of_first(trace, s, tokens, &profile) - hits_of_first(trace, s, tokens, nullptr);
      EXPECT_GE(difference / 6, -0.01) << "profile of sequence " << source << " at " << tokens << " tokens";
    }
  }
}

}  // namespace
}  // namespace luce::experts
