#pragma once

#include <cstddef>

namespace luce::gguf {

/// Watches operator new of this program, on all threads, while it lives; one at a time.
class AllocationCounter {
 public:
  AllocationCounter();
  ~AllocationCounter();
  AllocationCounter(const AllocationCounter&) = delete;
  AllocationCounter& operator=(const AllocationCounter&) = delete;

  /// Most bytes held at one time beyond those at the start.
  size_t peak_bytes() const;
};

}  // namespace luce::gguf
