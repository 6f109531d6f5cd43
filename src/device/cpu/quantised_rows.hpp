#pragma once

#include <vector>

#include "device/cpu/machine.hpp"

namespace luce::device::cpu {

/// Rows of activations in 8 bits, for panels; keeps its memory between uses.
class QuantisedRows {
 public:
  /// Room for `count` rows of `width` values, a multiple of 32. Their content is unspecified.
  void reserve(int64_t count, int64_t width);
  /// Fills reserved rows from x.
  void quantise(const Machine& machine, const float* const* x);

  ActivationBlock* operator[](int64_t row) const { return rows_[static_cast<size_t>(row)]; }
  const ActivationBlock* const* rows() const { return rows_.data(); }

 private:
  int64_t width_ = 0;
  Block memory_;
  std::vector<ActivationBlock*> rows_;
};

}  // namespace luce::device::cpu
