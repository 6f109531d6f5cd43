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

struct Shape {
  int layers, experts, top_k;
};
constexpr Shape kLarge = {40, 256, 8};  // Qwen3.6-35B-A3B
constexpr Shape kDemo = {6, 64, 4};     // the demo model

/// Skewed choices in which an expert often returns in the next token.
class Traffic {
 public:
  explicit Traffic(const Shape& shape)
      : shape_(shape), ids_(static_cast<size_t>(shape.top_k)), weights_(ids_.size(), 1.0F) {
    for (int32_t k = 0; k < shape.top_k; ++k) ids_[static_cast<size_t>(k)] = draw(k);
  }
  device::Routing next(int layer) {
    for (int32_t k = 0; k < shape_.top_k; ++k)
      if (random_() % 2 == 0) ids_[static_cast<size_t>(k)] = draw(k);
    return {layer, 1, shape_.top_k, ids_.data(), weights_.data(), classes_.data()};
  }

 private:
  /// A skewed choice among the experts that are k modulo top_k, so that no two of a token are the same.
  int32_t draw(int32_t k) {
    const auto groups = static_cast<unsigned>(shape_.experts / shape_.top_k);
    return static_cast<int32_t>((random_() % groups) * (random_() % groups) / groups) * shape_.top_k + k;
  }

  std::mt19937 random_{1};
  Shape shape_;
  std::vector<device::RowClass> classes_ = {device::RowClass::decode};
  std::vector<int32_t> ids_;
  std::vector<float> weights_;
};

/// One step of all layers through digest, usage, counters and cache core; misses count as arrived.
void step_of_the_core(benchmark::State& state, const Shape& shape, const char* policy) {
  const int slots = static_cast<int>(state.range(0));
  const auto layers = static_cast<size_t>(shape.layers);
  CounterTable counters(shape.layers);
  ExpertCache cache({std::vector<int>(layers, shape.experts), std::vector<int>(layers, slots)},
                    PolicySpec::parse(policy).factory(), counters);
  Usage usage(std::vector<int>(layers, shape.experts), 10'000);
  RoutingDigest digest(shape.experts);
  std::vector<Traffic> traffic(layers, Traffic(shape));
  const auto step = [&] {
    for (int layer = 0; layer < shape.layers; ++layer) {
      const LayerUse use = digest.digest(traffic[static_cast<size_t>(layer)].next(layer), shape.experts);
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

BENCHMARK_CAPTURE(step_of_the_core, large_lru, kLarge, "lru")->Arg(32)->Arg(64)->Arg(128)->Arg(256);
BENCHMARK_CAPTURE(step_of_the_core, large_hot_score, kLarge, "hot-score")->Arg(32)->Arg(64)->Arg(128)->Arg(256);
BENCHMARK_CAPTURE(step_of_the_core, demo_lru, kDemo, "lru")->Arg(16)->Arg(32)->Arg(64);
BENCHMARK_CAPTURE(step_of_the_core, demo_hot_score, kDemo, "hot-score")->Arg(16)->Arg(32)->Arg(64);

}  // namespace

BENCHMARK_MAIN();
