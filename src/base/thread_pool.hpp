#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/function_ref.hpp"

namespace luce::base {

/// A fixed set of threads that share one loop at a time.
/// Work is claimed in small pieces, so a thread that loses its core delays only its own piece; waiting spins for some
/// tens of microseconds and then sleeps, so that other processes get the core.
class ThreadPool {
 public:
  /// [begin, end) of the loop, and the worker (0 .. threads-1, unique among those running) for per-worker scratch.
  using Body = FunctionRef<void(int64_t begin, int64_t end, int worker)>;

  /// `threads` counts the caller, so threads - 1 are started; 1 runs every loop inline.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  /// Runs body over [0, count) in pieces of `grain` (the last may be shorter; a grain below 1 counts as 1) and returns
  /// when all are done. The cuts depend on count and grain alone, never on the number of threads.
  /// The caller works too, as worker 0. Never allocates. An exception thrown by a piece stops the rest and is rethrown
  /// here. A call from inside a piece of this pool runs inline as the same worker; calls from other threads take turns;
  /// two pools must not call each other in a circle.
  void parallel_for(int64_t count, int64_t grain, Body body);

 private:
  struct Job {
    const Body* body = nullptr;
    int64_t count = 0;
    int64_t grain = 1;
    int64_t pieces = 0;

    void run(int64_t piece, int worker) const;
  };

  void start_workers();
  void stop_workers();
  void worker_loop(int worker);
  bool try_join_job();
  void leave_job();
  void run_pieces(int worker);
  static void run_inline(const Job& job, int worker);
  void run_shared(const Job& job);
  void keep_exception();
  void wait_for_workers();
  template <typename Ready>
  bool spin(Ready ready);

  const int threads_;
  std::vector<std::thread> workers_;
  std::mutex callers_;  // held for one parallel_for

  // Written by the caller while gate_ is closed and nobody is inside.
  Job job_;
  std::exception_ptr exception_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<int> crowded_loops_{0};  // loops to go with short spins, set when another process took a core

  alignas(64) std::atomic<int64_t> next_piece_{0};
  alignas(64) std::atomic<uint32_t> gate_{0};        // open bit and the number of workers inside the job
  alignas(64) std::atomic<uint32_t> generation_{0};  // jobs offered so far; workers sleep on it
};

}  // namespace luce::base
