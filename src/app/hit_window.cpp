#include "app/hit_window.hpp"

namespace luce::app {

experts::AccessCount HitWindow::advance(uint64_t tokens, const experts::AccessCount& decode) {
  if (samples_.empty()) samples_.push_back({});
  while (samples_.size() > 1 && samples_[1].tokens + window_tokens_ <= tokens) samples_.pop_front();
  const Sample& then = samples_.front();
  const experts::AccessCount in_window{decode.hits - then.decode.hits, decode.misses - then.decode.misses};
  // Sixteen samples a window are enough for its edge.
  if (tokens >= samples_.back().tokens + window_tokens_ / 16 + 1) samples_.push_back({tokens, decode});
  return in_window;
}

double hit_ratio(const experts::AccessCount& count) {
  return count.accesses() == 0 ? 0.0 : static_cast<double>(count.hits) / static_cast<double>(count.accesses());
}

}  // namespace luce::app
