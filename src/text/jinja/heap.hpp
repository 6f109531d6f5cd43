#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace luce::text::jinja {

class Value;

/// What one rendering may use. A template that exceeds it fails; it can neither hang nor fill the memory.
struct Limits {
  uint64_t steps = 20'000'000;       // evaluated nodes; copying and scanning 64 bytes counts as one
  size_t memory_bytes = 256u << 20;  // live strings and containers
  size_t string_bytes = 64u << 20;   // of one string, the output included
  int depth = 800;                   // nested evaluations, which bounds the stack
};

class Heap;

/// A container whose contents may lead back to itself. The heap knows all of them and empties those that are left at
/// the end; contents are destroyed in a loop, never by recursion, however deep they are nested.
class Tracked {
 public:
  explicit Tracked(Heap& heap);
  virtual ~Tracked();
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;

  Heap& heap() const { return heap_; }

 protected:
  /// Moves everything that this object refers to into `out`.
  virtual void surrender(std::vector<Value>& out) = 0;
  /// To be called by the destructor of each final class.
  void bury();
  /// Accounts for memory that lives as long as this object.
  void charge(size_t bytes);

 private:
  friend class Heap;
  Heap& heap_;
  Tracked* previous_ = nullptr;
  Tracked* next_ = nullptr;
  size_t charged_bytes_ = 0;
};

/// Budget and registry of one rendering; must outlive all values made with it. Used by one thread.
class Heap {
 public:
  explicit Heap(const Limits& limits);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  const Limits& limits() const { return limits_; }
  /// Throws TemplateError when the budget is used up.
  void work(uint64_t steps) {
    steps_ += steps;
    if (steps_ > limits_.steps) [[unlikely]]
      out_of_steps();
  }
  void work_on_bytes(size_t bytes) { work(bytes / 64); }
  void take(size_t bytes);
  void give(size_t bytes) noexcept { used_bytes_ -= bytes; }
  uint64_t steps() const { return steps_; }
  size_t used_bytes() const { return used_bytes_; }

 private:
  friend class Tracked;
  [[noreturn]] void out_of_steps() const;
  void drain() noexcept;

  Limits limits_;
  uint64_t steps_ = 0;
  size_t used_bytes_ = 0;
  Tracked* first_ = nullptr;
  std::vector<Value> graveyard_;
  bool draining_ = false;
};

}  // namespace luce::text::jinja
