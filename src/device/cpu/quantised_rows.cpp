#include "device/cpu/quantised_rows.hpp"

#include "base/check.hpp"

namespace luce::device::cpu {

void QuantisedRows::reserve(int64_t count, int64_t width) {
  LUCE_CHECK(width % kActivationBlock == 0, "8-bit activations fill whole blocks");
  width_ = width;
  const int64_t blocks = width / kActivationBlock;
  const auto bytes = static_cast<size_t>(count * blocks) * sizeof(ActivationBlock);
  if (memory_.bytes() < bytes) memory_ = Block(bytes);
  rows_.resize(static_cast<size_t>(count));
  auto* const first = reinterpret_cast<ActivationBlock*>(memory_.data());
  for (int64_t row = 0; row < count; ++row) rows_[static_cast<size_t>(row)] = first + row * blocks;
}

void QuantisedRows::quantise(const Machine& machine, const float* const* x) {
  const auto count = static_cast<int64_t>(rows_.size());
  machine.pool.parallel_for(count, grain_for(width_), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) machine.kernels.panel.quantise(x[row], width_, (*this)[row]);
  });
}

}  // namespace luce::device::cpu
