#include "app/stop_signals.hpp"

#include <unistd.h>
#include <csignal>

#include <utility>

namespace luce::app {
namespace {

sigset_t stop_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

StopSignals::StopSignals(std::function<void()> on_first) : on_first_(std::move(on_first)) {
  const sigset_t set = stop_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { listen(); });
}

StopSignals::~StopSignals() {
  closing_ = true;
  // Wakes the thread; the signal is blocked elsewhere and heard there only.
  pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
}

void StopSignals::listen() {
  const sigset_t set = stop_set();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (closing_) return;
    if (wanted_.exchange(true)) _exit(128 + signal);
    on_first_();
  }
}

}  // namespace luce::app
