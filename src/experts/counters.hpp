#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace luce::experts {

/// Accesses: one is one distinct expert of one layer and step. A hit was resident before anything was admitted.
struct AccessCount {
  uint64_t hits = 0;
  uint64_t misses = 0;

  uint64_t accesses() const { return hits + misses; }
};

/// Everything since the start, of one layer or of all. Prompt and decode rows of one step that share an expert count
/// once in `all` and once in each of theirs.
struct ServiceCounters {
  AccessCount all;
  AccessCount prompt;
  AccessCount decode;
  uint64_t fetches = 0;  // completed, for steps and for warming
  uint64_t fetch_errors = 0;
  uint64_t bytes_fetched = 0;  // as stored in the slower tier
  uint64_t fetched_ahead = 0;  // for requests that started, of those fetches
  uint64_t streamed = 0;       // fetches that served one wave and were not kept
  uint64_t evictions = 0;
  uint64_t near_misses = 0;     // of decoding, that an eighth more slots would have spared
  uint64_t never_reused = 0;    // evicted without a hit after the step they were fetched for
  uint64_t substituted = 0;     // routed experts that a bias replaced
  uint64_t dropped = 0;         // routed experts that decoding went without, since fewer were asked for
  uint64_t reweighted = 0;      // used experts whose mixing weight another temperature gave
  double displaced_weight = 0;  // of what a bias replaced, their mixing weights
  double fetch_seconds = 0;     // summed over parallel fetches
  double stall_seconds = 0;     // a step waited with nothing else to run; only in the total
};

/// Counters of all layers; one thread or several count, any thread reads.
class CounterTable {
 public:
  enum class Field {
    hits,
    misses,
    prompt_hits,
    prompt_misses,
    decode_hits,
    decode_misses,
    fetches,
    fetch_errors,
    bytes_fetched,
    fetched_ahead,
    streamed,
    evictions,
    near_misses,
    never_reused,
    substituted,
    displaced_millionths,
    dropped,
    reweighted,
    fetch_nanoseconds,
    stall_nanoseconds
  };
  static constexpr int kFields = 20;

  explicit CounterTable(int layers);

  void add(int layer, Field field, uint64_t amount = 1) {
    cell(layer, field).fetch_add(amount, std::memory_order_relaxed);
  }
  ServiceCounters of_layer(int layer) const;
  ServiceCounters total() const;

 private:
  std::atomic<uint64_t>& cell(int layer, Field field) {
    return cells_[static_cast<size_t>(layer) * kFields + static_cast<size_t>(field)];
  }

  std::vector<std::atomic<uint64_t>> cells_;
};

}  // namespace luce::experts
