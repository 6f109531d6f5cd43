#include "model/scratch.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace luce::model {
namespace {

constexpr int64_t kRowStep = 16;

}  // namespace

Scratch Scratch::measuring() { return {kNowhere, std::numeric_limits<int64_t>::max()}; }

device::Tensor Scratch::activations(int64_t rows, int64_t width) { return take(tensor::Format::f32, rows, width); }

device::Tensor Scratch::indices(int64_t rows, int64_t width) { return take(tensor::Format::i32, rows, width); }

device::Tensor Scratch::take(tensor::Format format, int64_t rows, int64_t width) {
  const int64_t padded_rows = (rows + kRowStep - 1) / kRowStep * kRowStep;
  const int64_t bytes = padded_rows * width * static_cast<int64_t>(sizeof(float));
  LUCE_CHECK(used_bytes_ + bytes <= capacity_bytes_, "a step needs more scratch than was measured");
  const auto taken = device::make_tensor(format, {rows, width}, base_ + static_cast<device::Address>(used_bytes_));
  used_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  return taken;
}

}  // namespace luce::model
