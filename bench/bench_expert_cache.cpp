// What the expert cache itself costs: the time of a step's bookkeeping with experts that arrive at once.
#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "experts/cached_expert_service.hpp"
#include "experts/replay.hpp"

namespace {

using namespace luce;
using namespace luce::experts;

constexpr int kLayers = 40, kExperts = 256, kTopK = 8;  // Qwen3.6-35B-A3B

/// Skewed choices in which an expert often returns in the next token.
class Traffic {
 public:
  Traffic() : classes_(1, device::RowClass::decode), ids_(kTopK), weights_(kTopK, 1.0F / kTopK) {}
  device::Routing next(int layer) {
    for (size_t k = 0; k < kTopK; ++k)
      if (random_() % 2 == 0) ids_[k] = draw(k);
    return {layer, 1, kTopK, ids_.data(), weights_.data(), classes_.data()};
  }

 private:
  int32_t draw(size_t k) {
    const auto skewed = static_cast<int32_t>((random_() % 32) * (random_() % 32) / 32);
    return skewed * kTopK + static_cast<int32_t>(k);
  }

  std::mt19937 random_{1};
  std::vector<device::RowClass> classes_;
  std::vector<int32_t> ids_;
  std::vector<float> weights_;
};

/// One step of all layers through digest, usage, counters and cache core; misses count as arrived.
void step_of_the_core(benchmark::State& state, const char* policy) {
  const int slots = static_cast<int>(state.range(0));
  CounterTable counters(kLayers);
  ExpertCache cache({std::vector<int>(kLayers, kExperts), std::vector<int>(kLayers, slots)},
                    PolicySpec::parse(policy).factory(), counters);
  Usage usage(std::vector<int>(kLayers, kExperts), 10'000);
  RoutingDigest digest(kExperts);
  std::vector<Traffic> traffic(kLayers);
  const auto step = [&] {
    for (int layer = 0; layer < kLayers; ++layer) {
      const LayerUse use = digest.digest(traffic[static_cast<size_t>(layer)].next(layer), kExperts);
      usage.count(use);
      cache.begin_step(use);
      for (const UsedExpert& used : use.experts) {
        if (cache.find(layer, used.expert) != ExpertCache::kNoSlot) continue;
        if (const auto slot = cache.admit(layer, used.expert)) cache.loaded(*slot);
      }
    }
    usage.end_step(1);
  };
  for (int warm = 0; warm < 500; ++warm) step();
  for (auto _ : state) step();
  const AccessCount all = counters.total().all;
  state.counters["hit_ratio"] = static_cast<double>(all.hits) / static_cast<double>(all.accesses());
}

BENCHMARK_CAPTURE(step_of_the_core, lru, "lru")->Arg(32)->Arg(64)->Arg(128)->Arg(256)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step_of_the_core, hot_score, "hot-score")
    ->Arg(32)
    ->Arg(64)
    ->Arg(128)
    ->Arg(256)
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
