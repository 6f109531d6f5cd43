// What one parallel_for costs beside the work in it. Run it with repeats, for example
// --benchmark_repetitions=7 --benchmark_report_aggregates_only=true, and read the medians.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/thread_pool.hpp"

namespace {

using luce::base::ThreadPool;

/// A chain of dependent steps, a few nanoseconds each, that two hardware threads of one core would not slow down.
void spin_work(int64_t rounds) {
  auto value = static_cast<uint64_t>(rounds);
  for (int64_t i = 0; i < rounds; ++i) {
    value ^= value << 13;
    value ^= value >> 7;
    value ^= value << 17;
    benchmark::DoNotOptimize(value);
  }
}

constexpr int64_t kPieces = 64;

/// Arguments: threads, rounds of work in the whole loop.
void parallel_for_with_work(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  const int64_t rounds = state.range(1) / kPieces;
  for (auto _ : state)
    pool.parallel_for(kPieces, 1, [&](int64_t begin, int64_t end, int) { spin_work(rounds * (end - begin)); });
}

/// The same work without a pool: the base that the overhead is measured against.
void serial_work(benchmark::State& state) {
  for (auto _ : state)
    for (int64_t i = 0; i < kPieces; ++i) spin_work(state.range(0) / kPieces);
}

/// After a pause that outlasts the spin, so that the workers sleep when the loop comes.
void parallel_for_after_sleep(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  const int64_t rounds = state.range(1) / kPieces;
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto start = std::chrono::steady_clock::now();
    pool.parallel_for(kPieces, 1, [&](int64_t begin, int64_t end, int) { spin_work(rounds * (end - begin)); });
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}

const int64_t kCores = std::max(1U, std::thread::hardware_concurrency());

}  // namespace

BENCHMARK(serial_work)->Arg(0)->Arg(40'000)->UseRealTime();
BENCHMARK(parallel_for_with_work)->ArgsProduct({{1, kCores, 2 * kCores}, {0, 40'000}})->UseRealTime();
BENCHMARK(parallel_for_after_sleep)->Args({kCores, 40'000})->UseManualTime();
BENCHMARK_MAIN();
