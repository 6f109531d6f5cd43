#pragma once

namespace luce::base {
[[noreturn]] void check_failed(const char* condition, const char* message, const char* file, int line);
}

/// Aborts when an invariant of ours is broken; must not be reachable from a file, a request or a device.
#define LUCE_CHECK(condition, message)                                     \
  do {                                                                     \
    if (!(condition)) [[unlikely]]                                         \
      ::luce::base::check_failed(#condition, message, __FILE__, __LINE__); \
  } while (false)
