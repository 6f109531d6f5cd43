#pragma once

#include <cstdint>
#include <string>

namespace luce::base {

/// Memory that this process may use, in bytes.
struct MemoryLimit {
  int64_t total_bytes = 0;      // the host's memory or the tightest container limit
  int64_t available_bytes = 0;  // what can still be taken now; cached file pages count as free
  bool is_container = false;    // true when a control group, not the host, bounds available_bytes
  std::string source;           // file that named the bound, for messages
};

/// Reads /proc/meminfo and the control groups of both versions. `root` stands before /proc and /sys ("" = this system).
/// Throws ErrorKind::io when not even the host's memory can be read.
MemoryLimit read_memory_limit(const std::string& root = "");

/// Resident size of this process now, in bytes; 0 when the system does not tell.
int64_t resident_bytes();

}  // namespace luce::base
