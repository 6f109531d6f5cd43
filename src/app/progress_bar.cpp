#include "app/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/format.hpp"

namespace luce::app {
namespace {

constexpr int kWidth = 30;
constexpr auto kPatience = std::chrono::milliseconds(200);
constexpr auto kRefresh = std::chrono::milliseconds(80);

}  // namespace

ProgressBar::ProgressBar(std::string label)
    : label_(std::move(label)), terminal_(isatty(STDERR_FILENO) == 1), begun_(Clock::now()), last_(begun_) {}

void ProgressBar::show(int64_t done, int64_t all) {
  const auto now = Clock::now();
  if (!terminal_ || all <= 0 || now - begun_ < kPatience || now - last_ < kRefresh) return;
  last_ = now;
  shown_ = true;
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(all), 0.0, 1.0);
  const int filled = static_cast<int>(share * kWidth);
  std::fputs(
      fmt::format("\r{} [{:=<{}}{: <{}}] {:3.0f} %", label_, "", filled, "", kWidth - filled, share * 100).c_str(),
      stderr);
  std::fflush(stderr);
}

void ProgressBar::finish() {
  if (!std::exchange(shown_, false)) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace luce::app
