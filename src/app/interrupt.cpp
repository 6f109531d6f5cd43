#include "app/interrupt.hpp"

#include <csignal>

namespace luce::app {
namespace {

// Written by a signal handler: nothing but lock-free flags.
std::atomic<bool> interrupted = false;
std::atomic<bool> terminated = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int signal) {
  interrupted = true;
  if (signal == SIGTERM) terminated = true;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

const std::atomic<bool>& interrupt_flag() { return interrupted; }

void clear_interrupt() { interrupted = terminated.load(); }

bool terminate_wanted() { return terminated; }

}  // namespace luce::app
