#pragma once

#include <cstdint>
#include <string>

#include "base/memory_limit.hpp"

namespace luce::base {

/// How this process fares for memory now.
struct MemoryState {
  MemoryLimit limit;
  int64_t resident_bytes = 0;  // of this process
  int64_t swapped_bytes = 0;   // of this process or, where it is counted and limited, of its control group
  int64_t swap_moves = 0;      // pages that went to or came from swap, of the group or else the machine; ever growing
  double stalled_percent = 0;  // of the last ten seconds in which nothing of the group ran for want of memory; 0 if
                               // no group of its own tells
  std::string stalled_source;  // file that told, empty if none
};

/// Reads what read_memory_limit() does, and swap and pressure. `root` stands before /proc and /sys ("" = this system).
/// What the system does not tell is 0. Throws ErrorKind::io when not even the host's memory can be read.
MemoryState read_memory_state(const std::string& root = "");

}  // namespace luce::base
