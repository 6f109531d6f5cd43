#include "gguf/allocation_counter.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> watching{false};
std::atomic<long long> held_bytes{0};
std::atomic<long long> peak_held_bytes{0};

void count(void* pointer, int sign) {
  if (!watching.load(std::memory_order_relaxed) || pointer == nullptr) return;
  const long long held = held_bytes += sign * static_cast<long long>(::malloc_usable_size(pointer));
  long long peak = peak_held_bytes.load();
  while (held > peak && !peak_held_bytes.compare_exchange_weak(peak, held)) {
  }
}

}  // namespace

// With a sanitizer these bypass its operator new, yet its malloc still checks every access.
void* operator new(size_t bytes) {
  void* pointer = std::malloc(bytes == 0 ? 1 : bytes);
  if (pointer == nullptr) throw std::bad_alloc();
  count(pointer, 1);
  return pointer;
}

void operator delete(void* pointer) noexcept {
  count(pointer, -1);
  std::free(pointer);
}

void operator delete(void* pointer, size_t /*bytes*/) noexcept { operator delete(pointer); }
void* operator new[](size_t bytes) { return operator new(bytes); }
void operator delete[](void* pointer) noexcept { operator delete(pointer); }
void operator delete[](void* pointer, size_t /*bytes*/) noexcept { operator delete(pointer); }

namespace luce::gguf {

AllocationCounter::AllocationCounter() {
  held_bytes = 0;
  peak_held_bytes = 0;
  watching = true;
}

AllocationCounter::~AllocationCounter() { watching = false; }

size_t AllocationCounter::peak_bytes() const { return static_cast<size_t>(peak_held_bytes.load()); }

}  // namespace luce::gguf
