#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace luce::app {

/// A thread that calls a function again and again.
class Periodic {
 public:
  /// `work` returns how long to wait before the next call.
  explicit Periodic(std::function<std::chrono::milliseconds()> work);
  /// Waits for a call under way, then ends the thread.
  ~Periodic();
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;

 private:
  void run();

  std::function<std::chrono::milliseconds()> work_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool closing_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace luce::app
