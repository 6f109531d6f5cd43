#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace luce::app {

/// A line on stderr that shows how far long work is, only if stderr is a terminal and only after 0.2 s. Its end, or its
/// destructor, wipes it.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label);
  ~ProgressBar() { finish(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(int64_t done, int64_t all);
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point begun_;
  Clock::time_point last_;
};

}  // namespace luce::app
