#include "server/worker_lane.hpp"

namespace luce::server {

WorkerLane::WorkerLane(int threads, size_t queue_capacity, Work work)
    : queue_capacity_(queue_capacity), work_(std::move(work)) {
  const std::lock_guard lock(mutex_);
  threads_.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { loop(); });
}

WorkerLane::~WorkerLane() { stop(); }

bool WorkerLane::try_add(std::unique_ptr<Connection>& connection) {
  {
    const std::lock_guard lock(mutex_);
    // A burst may come before idle threads have woken: what they will take does not count.
    if (stopping_ || queue_.size() + busy_ >= queue_capacity_ + threads_.size()) return false;
    queue_.push_back(std::move(connection));
  }
  changed_.notify_one();
  return true;
}

void WorkerLane::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& each : threads_)
    if (each.joinable()) each.join();
}

void WorkerLane::loop() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::unique_ptr<Connection> connection = std::move(queue_.front());
    queue_.pop_front();
    ++busy_;
    lock.unlock();
    work_(std::move(connection));
    lock.lock();
    --busy_;
  }
}

}  // namespace luce::server
