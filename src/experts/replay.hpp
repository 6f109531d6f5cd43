#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experts/policy.hpp"
#include "experts/trace.hpp"

namespace luce::experts {

struct ReplayResult {
  int64_t accesses = 0;  // distinct experts per layer and step
  int64_t hits = 0;
  int64_t uploads = 0;  // misses that were fetched; a gated policy computes what it refuses in place

  double hit_ratio() const { return accesses > 0 ? static_cast<double>(hits) / static_cast<double>(accesses) : 0.0; }
};

struct ReplaySettings {
  std::string policy;  // those of PolicySpec, and opt and opt-bypass, which know the future
  int slots = 0;       // per layer, 1 to the number of experts
  int streams = 1;     // sequence s belongs to stream s mod streams; streams advance in lockstep
  /// Counts of earlier use [layers][experts]: fill the slots with the most used and seed the policy. Null: cold start.
  const std::vector<std::vector<double>>* profile = nullptr;
  bool move_slots = false;  // between layers, as SlotBalancer does when serving
};

/// What a cache of this size would have done: cold start, one cache per layer, nothing reset between sequences. In each
/// step all hits are counted before misses are admitted in row order. Throws Error{usage}.
ReplayResult replay(const Trace& trace, const ReplaySettings& settings);

/// The same with policies made by the caller.
ReplayResult replay(const Trace& trace, const ReplaySettings& settings, const PolicyFactory& factory);

}  // namespace luce::experts
