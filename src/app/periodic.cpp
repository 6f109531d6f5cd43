#include "app/periodic.hpp"

#include <utility>

namespace luce::app {

Periodic::Periodic(std::function<std::chrono::milliseconds()> work)
    : work_(std::move(work)), thread_([this] { run(); }) {}

Periodic::~Periodic() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Periodic::run() {
  for (;;) {
    const std::chrono::milliseconds pause = work_();
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, pause, [this] { return closing_; })) return;
  }
}

}  // namespace luce::app
