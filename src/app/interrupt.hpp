#pragma once

#include <atomic>

namespace luce::app {

/// Makes SIGINT end the answer that runs instead of the program, and SIGTERM the program after it. Reads that wait come
/// back with EINTR. Once per process.
void catch_interrupts();

/// Set by either signal.
const std::atomic<bool>& interrupt_flag();
void clear_interrupt();
/// SIGTERM came.
bool terminate_wanted();

}  // namespace luce::app
