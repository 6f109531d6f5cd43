#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "server/connection.hpp"

namespace luce::server {

/// Threads that each answer one request at a time, with a short queue in front. A lane of its own keeps /health and
/// /metrics answering while every other worker streams.
class WorkerLane {
 public:
  using Work = std::function<void(std::unique_ptr<Connection>)>;

  WorkerLane(int threads, size_t queue_capacity, Work work);
  /// stop()
  ~WorkerLane();
  WorkerLane(const WorkerLane&) = delete;
  WorkerLane& operator=(const WorkerLane&) = delete;

  /// False, and `connection` kept, when the queue is full or the lane has stopped.
  bool try_add(std::unique_ptr<Connection>& connection);
  /// Answers what is queued, then joins all threads.
  void stop();

 private:
  void loop();

  size_t queue_capacity_;
  Work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Connection>> queue_;  // guarded by mutex_
  size_t busy_ = 0;                                // threads at work; guarded by mutex_
  bool stopping_ = false;                          // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace luce::server
