#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "experts/expert_source.hpp"

namespace luce::experts {

/// Demand goes before what nobody waits for: warming at the start, and what a starting request may need.
enum class FetchPriority { demand, warm, ahead };

struct FetchJob {
  int layer = 0;
  int32_t expert = 0;
  device::Address to = 0;
  int slot = 0;  // the submitter's name for `to`
  FetchPriority priority = FetchPriority::demand;
};

/// Why a fetch failed; plain, since an exception shares its text between threads.
struct FetchFailure {
  ErrorKind kind = ErrorKind::io;
  std::string message;
};

struct FetchResult {
  FetchJob job;
  uint64_t nanoseconds = 0;
  std::optional<FetchFailure> failure;
};

/// A few threads that read and pack experts, each with its own staging buffer, allocated once.
class Fetcher {
 public:
  /// `done` is called from the fetching threads, once for every job.
  using Done = std::function<void(FetchResult)>;
  Fetcher(const ExpertSource& source, int threads, Done done);
  /// Finishes what runs and forgets what waits.
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  void submit(const FetchJob& job);
  /// Takes a waiting job for this slot, if there is one, as demanded from now on.
  void hurry(int slot);
  size_t staging_bytes() const { return threads_.size() * source_.staging_bytes(); }

 private:
  void work(std::span<std::byte> staging);
  std::optional<FetchJob> next_job();
  FetchResult run(const FetchJob& job, std::span<std::byte> staging) const;

  const ExpertSource& source_;
  Done done_;
  std::vector<std::byte> staging_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<FetchJob> demand_, warm_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace luce::experts
