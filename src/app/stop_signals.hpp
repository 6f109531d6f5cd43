#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace luce::app {

/// Hears SIGTERM and SIGINT on a thread of its own. Make it before any other thread, so that these inherit the mask and
/// no signal interrupts them.
class StopSignals {
 public:
  /// `on_first` runs on the listening thread at the first signal. The second one ends the process at once.
  explicit StopSignals(std::function<void()> on_first);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  bool stop_wanted() const { return wanted_; }

 private:
  void listen();

  std::function<void()> on_first_;
  std::atomic<bool> wanted_ = false;
  std::atomic<bool> closing_ = false;
  std::thread thread_;
};

}  // namespace luce::app
