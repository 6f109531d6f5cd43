#include "experts/fetcher.hpp"

#include <algorithm>
#include <chrono>

namespace luce::experts {

Fetcher::Fetcher(const ExpertSource& source, int threads, Done done)
    : source_(source), done_(std::move(done)), staging_(static_cast<size_t>(threads) * source.staging_bytes()) {
  for (int i = 0; i < threads; ++i) {
    const size_t bytes = source.staging_bytes();
    const std::span<std::byte> own(staging_.data() + static_cast<size_t>(i) * bytes, bytes);
    threads_.emplace_back([this, own] { work(own); });
  }
}

Fetcher::~Fetcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Fetcher::submit(const FetchJob& job) {
  {
    const std::lock_guard lock(mutex_);
    (job.priority == FetchPriority::demand ? demand_ : warm_).push_back(job);
  }
  wake_.notify_one();
}

void Fetcher::hurry(int slot) {
  const std::lock_guard lock(mutex_);
  const auto waiting = std::find_if(warm_.begin(), warm_.end(), [=](const FetchJob& job) { return job.slot == slot; });
  if (waiting == warm_.end()) return;
  demand_.push_back(*waiting);
  warm_.erase(waiting);
}

void Fetcher::work(std::span<std::byte> staging) {
  while (const auto job = next_job()) done_(run(*job, staging));
}

std::optional<FetchJob> Fetcher::next_job() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return stopping_ || !demand_.empty() || !warm_.empty(); });
  if (stopping_) return std::nullopt;
  std::deque<FetchJob>& queue = demand_.empty() ? warm_ : demand_;
  const FetchJob job = queue.front();
  queue.pop_front();
  return job;
}

FetchResult Fetcher::run(const FetchJob& job, std::span<std::byte> staging) const {
  FetchResult result{job, 0, std::nullopt};
  const auto begin = std::chrono::steady_clock::now();
  try {
    source_.fetch(job.layer, job.expert, job.to, staging);
  } catch (const Error& error) {
    result.failure = {error.kind(), error.what()};
  } catch (const std::exception& error) {
    result.failure = {ErrorKind::internal,
                      fmt::format("fetching expert {} of layer {}: {}", job.expert, job.layer, error.what())};
  }
  result.nanoseconds =
      static_cast<uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
  return result;
}

}  // namespace luce::experts
