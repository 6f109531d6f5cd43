#pragma once

#include <cstdint>

#include "device/tensor.hpp"

namespace luce::model {

/// Bump allocator for the activations of one step. A measuring scratch hands out the addresses of no memory and only
/// records how much a step needs.
class Scratch {
 public:
  /// An address for views of no memory.
  static constexpr device::Address kNowhere = 1 << 20;

  Scratch(device::Address base, int64_t capacity_bytes) : base_(base), capacity_bytes_(capacity_bytes) {}
  static Scratch measuring();

  /// [rows, width] f32. Rows are rounded up to 16, so that the need grows in proportion to the rows.
  device::Tensor activations(int64_t rows, int64_t width);
  /// [rows, width] i32.
  device::Tensor indices(int64_t rows, int64_t width);

  int64_t mark() const { return used_bytes_; }
  void release(int64_t mark) { used_bytes_ = mark; }
  int64_t peak_bytes() const { return peak_bytes_; }

 private:
  device::Tensor take(tensor::Format format, int64_t rows, int64_t width);

  device::Address base_;
  int64_t capacity_bytes_;
  int64_t used_bytes_ = 0;
  int64_t peak_bytes_ = 0;
};

/// Gives back at the end of a scope what was taken in it.
class ScratchScope {
 public:
  explicit ScratchScope(Scratch& scratch) : scratch_(scratch), mark_(scratch.mark()) {}
  ~ScratchScope() { scratch_.release(mark_); }
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

 private:
  Scratch& scratch_;
  int64_t mark_;
};

}  // namespace luce::model
