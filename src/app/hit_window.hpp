#pragma once

#include <cstdint>
#include <deque>

#include "experts/counters.hpp"

namespace luce::app {

/// Decode hits and misses over a window of tokens, from totals that grow. Not thread-safe.
class HitWindow {
 public:
  explicit HitWindow(int64_t window_tokens) : window_tokens_(static_cast<uint64_t>(window_tokens)) {}

  /// The totals now; returns those of the window.
  experts::AccessCount advance(uint64_t tokens, const experts::AccessCount& decode);

 private:
  struct Sample {
    uint64_t tokens = 0;
    experts::AccessCount decode;
  };

  uint64_t window_tokens_;
  std::deque<Sample> samples_;
};

/// 0 where there was no access.
double hit_ratio(const experts::AccessCount& count);

}  // namespace luce::app
