#include "base/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace luce::base {
namespace {

/// How often each index was visited by one loop.
std::vector<int> visits(ThreadPool& pool, int64_t count, int64_t grain) {
  std::vector<int> seen(static_cast<size_t>(count), 0);
  pool.parallel_for(count, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
  });
  return seen;
}

class Pool : public testing::TestWithParam<int> {};

TEST_P(Pool, VisitsEveryIndexOnceInPiecesOfTheGrain) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), GetParam());
  for (const int64_t count : {1, 2, 7, 64, 1000})
    for (const int64_t grain : {-3, 0, 1, 3, 64, 999, 100'000})
      ASSERT_EQ(visits(pool, count, grain), std::vector<int>(static_cast<size_t>(count), 1)) << count << '/' << grain;
}

TEST_P(Pool, CutsDoNotDependOnThreads) {
  ThreadPool pool(GetParam());
  std::vector<std::atomic<int64_t>> ends(100);
  pool.parallel_for(100, 30, [&](int64_t begin, int64_t end, int) { ends[static_cast<size_t>(begin)] = end; });
  EXPECT_EQ(ends[0], 30);
  EXPECT_EQ(ends[30], 60);
  EXPECT_EQ(ends[60], 90);
  EXPECT_EQ(ends[90], 100);
}

TEST_P(Pool, NothingToDoCallsNothing) {
  ThreadPool pool(GetParam());
  int calls = 0;
  pool.parallel_for(0, 8, [&](int64_t, int64_t, int) { ++calls; });
  pool.parallel_for(-5, 8, [&](int64_t, int64_t, int) { ++calls; });
  EXPECT_EQ(calls, 0);
}

TEST_P(Pool, HugeCountsDoNotOverflow) {
  ThreadPool pool(GetParam());
  std::atomic<int64_t> covered{0};
  pool.parallel_for(INT64_MAX, INT64_MAX / 3, [&](int64_t begin, int64_t end, int) { covered += end - begin; });
  EXPECT_EQ(covered, INT64_MAX);
}

TEST_P(Pool, WorkersHaveDistinctNumbers) {
  ThreadPool pool(GetParam());
  std::vector<std::atomic<int>> inside(static_cast<size_t>(GetParam()));
  std::atomic<bool> clash{false};
  for (int round = 0; round < 200; ++round)
    pool.parallel_for(16, 1, [&](int64_t, int64_t, int worker) {
      if (inside.at(static_cast<size_t>(worker)).fetch_add(1) != 0) clash = true;
      std::this_thread::yield();
      inside.at(static_cast<size_t>(worker)).fetch_sub(1);
    });
  EXPECT_FALSE(clash);
}

TEST_P(Pool, NestedLoopRunsAsTheSameWorker) {
  ThreadPool pool(GetParam());
  std::atomic<int64_t> sum{0};
  std::atomic<bool> same{true};
  pool.parallel_for(8, 1, [&](int64_t, int64_t, int outer) {
    pool.parallel_for(10, 3, [&](int64_t begin, int64_t end, int inner) {
      if (inner != outer) same = false;
      sum += end - begin;
    });
  });
  EXPECT_EQ(sum, 80);
  EXPECT_TRUE(same);
}

TEST_P(Pool, ExceptionStopsTheLoopAndReachesTheCaller) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ran{0};
    const auto body = [&](int64_t begin, int64_t, int) {
      ++ran;
      if (begin == 3) throw std::runtime_error("piece 3");
    };
    EXPECT_THROW(pool.parallel_for(1'000'000, 1, body), std::runtime_error);
    EXPECT_LT(ran, 1'000'000);
  }
  EXPECT_EQ(visits(pool, 100, 1), std::vector<int>(100, 1));
}

TEST_P(Pool, CallersFromOtherThreadsTakeTurns) {
  ThreadPool pool(GetParam());
  std::atomic<int64_t> total{0};
  std::vector<std::atomic<int>> inside(static_cast<size_t>(GetParam()));
  std::atomic<bool> clash{false};
  const auto call = [&] {
    for (int round = 0; round < 200; ++round)
      pool.parallel_for(20, 2, [&](int64_t begin, int64_t end, int worker) {
        total += end - begin;
        if (inside.at(static_cast<size_t>(worker)).fetch_add(1) != 0) clash = true;
        std::this_thread::yield();
        inside.at(static_cast<size_t>(worker)).fetch_sub(1);
      });
  };
  std::thread other([&] { call(); });
  call();
  other.join();
  EXPECT_EQ(total, 2 * 200 * 20);
  EXPECT_FALSE(clash);
}

TEST_P(Pool, ResultsOfEachLoopAreVisibleToTheNext) {
  ThreadPool pool(GetParam());
  std::vector<int64_t> values(257, 0);
  const auto count = static_cast<int64_t>(values.size());
  for (int round = 0; round < 2000; ++round)
    pool.parallel_for(count, 7, [&](int64_t begin, int64_t end, int) {
      // Reads what another worker may have written in the loop before.
      for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(i)] += 1;
    });
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), int64_t{0}), 2000 * count);
}

TEST_P(Pool, WakesAfterSleeping) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(visits(pool, 64, 1), std::vector<int>(64, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Pool, testing::Values(1, 2, 3, 8));

TEST(ThreadPoolSharing, EveryThreadTakesPart) {
  ThreadPool pool(3);
  std::atomic<int> inside{0};
  std::set<int> workers;
  std::mutex mutex;
  // Each piece waits until all three are inside, so one thread alone could not finish.
  pool.parallel_for(3, 1, [&](int64_t, int64_t, int worker) {
    ++inside;
    while (inside < 3) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    workers.insert(worker);
  });
  EXPECT_EQ(workers, (std::set<int>{0, 1, 2}));
}

TEST(ThreadPoolSharing, OnePoolMayUseAnother) {
  ThreadPool outer(2);
  ThreadPool inner(2);
  std::atomic<int> calls{0};
  outer.parallel_for(4, 1, [&](int64_t, int64_t, int) {
    inner.parallel_for(
        4, 1, [&](int64_t, int64_t, int) { inner.parallel_for(4, 1, [&](int64_t, int64_t, int) { ++calls; }); });
    outer.parallel_for(4, 1, [&](int64_t, int64_t, int) { ++calls; });
  });
  EXPECT_EQ(calls, 80);
}

TEST(ThreadPoolSharing, IdleWorkersUseNoProcessorTime) {
  ThreadPool pool(4);
  EXPECT_EQ(visits(pool, 100, 1), std::vector<int>(100, 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double used_seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  EXPECT_LT(used_seconds, 0.05);
}

}  // namespace
}  // namespace luce::base
