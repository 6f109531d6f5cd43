#include "base/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/check.hpp"
#include "base/error.hpp"

namespace luce::base {
namespace {

constexpr uint32_t kOpen = 1U << 31;
using Clock = std::chrono::steady_clock;
// Longer than the serial gaps between two loops of one step: waking a sleeping core costs about as much.
constexpr std::chrono::microseconds kSpinTime{50};
// While other processes want our cores, spinning only uses up our turn, and the next piece is what gets interrupted.
constexpr std::chrono::microseconds kCrowdedSpinTime{5};
// A look at the clock takes about a microsecond, so a gap as long as this means that the core was taken away.
constexpr std::chrono::microseconds kLostCoreTime{200};
constexpr int kCrowdedLoops = 2000;

void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

enum class SpinEnd { ready, timeout, lost_core };

/// Spins until `ready()`, for at most `limit`.
template <typename Ready>
SpinEnd spin_until(Ready ready, std::chrono::microseconds limit) {
  constexpr int kPausesPerLook = 16;
  const auto start = Clock::now();
  auto last_look = start;
  while (last_look - start < limit) {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (ready()) return SpinEnd::ready;
      pause_cpu();
    }
    const auto look = Clock::now();
    if (look - last_look > kLostCoreTime) return SpinEnd::lost_core;
    last_look = look;
  }
  return SpinEnd::timeout;
}

/// The pools whose pieces this thread is inside, innermost first.
struct Frame {
  const ThreadPool* pool;
  int worker;
  const Frame* outer;
};
thread_local const Frame* innermost_frame = nullptr;

class FrameScope {
 public:
  FrameScope(const ThreadPool* pool, int worker) : frame_{pool, worker, innermost_frame} { innermost_frame = &frame_; }
  ~FrameScope() { innermost_frame = frame_.outer; }
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;

 private:
  Frame frame_;
};

const Frame* find_frame(const ThreadPool* pool) {
  const Frame* frame = innermost_frame;
  while (frame != nullptr && frame->pool != pool) frame = frame->outer;
  return frame;
}

}  // namespace

void ThreadPool::Job::run(int64_t piece, int worker) const {
  const int64_t begin = piece * grain;
  (*body)(begin, begin + std::min(grain, count - begin), worker);
}

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  LUCE_CHECK(threads >= 1, "a thread pool needs at least the caller");
  try {
    start_workers();
  } catch (const std::system_error& error) {
    stop_workers();
    fail(ErrorKind::out_of_memory, "cannot start {} threads: {}; ask for fewer threads", threads, error.what());
  }
}

ThreadPool::~ThreadPool() { stop_workers(); }

void ThreadPool::start_workers() {
  workers_.reserve(static_cast<size_t>(threads_ - 1));
  for (int worker = 1; worker < threads_; ++worker) {
    workers_.emplace_back([this, worker] { worker_loop(worker); });
    pthread_setname_np(workers_.back().native_handle(), "luce-compute");
  }
}

void ThreadPool::stop_workers() {
  stopping_.store(true, std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (auto& worker : workers_) worker.join();
  workers_.clear();
}

void ThreadPool::parallel_for(int64_t count, int64_t grain, Body body) {
  if (count <= 0) return;
  grain = std::clamp<int64_t>(grain, 1, count);
  const Job job{&body, count, grain, (count - 1) / grain + 1};
  if (const Frame* frame = find_frame(this)) return run_inline(job, frame->worker);
  const std::lock_guard lock(callers_);
  const FrameScope scope(this, 0);
  if (threads_ == 1 || job.pieces == 1) return run_inline(job, 0);
  run_shared(job);
}

void ThreadPool::run_inline(const Job& job, int worker) {
  for (int64_t piece = 0; piece < job.pieces; ++piece) job.run(piece, worker);
}

template <typename Ready>
bool ThreadPool::spin(Ready ready) {
  const bool crowded = crowded_loops_.load(std::memory_order_relaxed) > 0;
  const auto end = spin_until(ready, crowded ? kCrowdedSpinTime : kSpinTime);
  if (end == SpinEnd::lost_core) crowded_loops_.store(kCrowdedLoops, std::memory_order_relaxed);
  return end == SpinEnd::ready;
}

void ThreadPool::run_shared(const Job& job) {
  const int crowded_loops = crowded_loops_.load(std::memory_order_relaxed);
  if (crowded_loops > 0) crowded_loops_.store(crowded_loops - 1, std::memory_order_relaxed);
  job_ = job;
  next_piece_.store(0, std::memory_order_relaxed);
  gate_.store(kOpen, std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  run_pieces(0);
  gate_.fetch_and(~kOpen, std::memory_order_acq_rel);
  wait_for_workers();
  if (failed_.load(std::memory_order_relaxed)) {
    failed_.store(false, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(exception_, nullptr));
  }
}

void ThreadPool::run_pieces(int worker) {
  const Job job = job_;
  try {
    for (;;) {
      const int64_t piece = next_piece_.fetch_add(1, std::memory_order_relaxed);
      if (piece >= job.pieces) return;
      job.run(piece, worker);
    }
  } catch (...) {
    keep_exception();
    next_piece_.store(job.pieces, std::memory_order_relaxed);
  }
}

void ThreadPool::keep_exception() {
  if (!failed_.exchange(true, std::memory_order_relaxed)) exception_ = std::current_exception();
}

void ThreadPool::wait_for_workers() {
  if (spin([this] { return gate_.load(std::memory_order_acquire) == 0; })) return;
  for (uint32_t inside = gate_.load(std::memory_order_acquire); inside != 0;
       inside = gate_.load(std::memory_order_acquire))
    gate_.wait(inside, std::memory_order_acquire);
}

bool ThreadPool::try_join_job() {
  uint32_t gate = gate_.load(std::memory_order_relaxed);
  while ((gate & kOpen) != 0)
    if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  return false;
}

void ThreadPool::leave_job() {
  // The last one out of a closed job wakes the caller.
  if (gate_.fetch_sub(1, std::memory_order_acq_rel) == 1) gate_.notify_one();
}

void ThreadPool::worker_loop(int worker) {
  const FrameScope scope(this, worker);
  uint32_t seen = 0;
  for (;;) {
    const auto is_offered = [&] { return generation_.load(std::memory_order_acquire) != seen; };
    if (!spin(is_offered)) generation_.wait(seen, std::memory_order_acquire);
    seen = generation_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_acquire)) return;
    if (!try_join_job()) continue;
    run_pieces(worker);
    leave_job();
  }
}

}  // namespace luce::base
