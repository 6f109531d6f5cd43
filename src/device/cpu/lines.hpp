#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "device/tensor.hpp"

namespace luce::device::cpu {

/// The innermost axes of an f32 or i32 activation as lines, numbered over all outer axes.
class Lines {
 public:
  explicit Lines(const Tensor& tensor) : base_(tensor.address), width_(tensor.shape.width()) {
    const int rank = tensor.shape.rank();
    LUCE_CHECK(rank >= 1 && rank <= 3, "activations have one to three axes");
    LUCE_CHECK(width_ == 1 || tensor.stride[static_cast<size_t>(rank - 1)] == 1, "the innermost axis must be dense");
    if (rank == 3) {
      inner_ = tensor.shape[1];
      inner_stride_ = tensor.stride[1];
    }
    count_ = tensor.shape.rows();
    outer_stride_ = rank == 1 ? 0 : tensor.stride[0];
  }

  int64_t count() const { return count_; }
  int64_t width() const { return width_; }

  float* operator[](int64_t line) const { return reinterpret_cast<float*>(address(line)); }
  int32_t* ints(int64_t line) const { return reinterpret_cast<int32_t*>(address(line)); }

 private:
  Address address(int64_t line) const {
    const int64_t offset =
        inner_ == 1 ? line * outer_stride_ : line / inner_ * outer_stride_ + line % inner_ * inner_stride_;
    return base_ + static_cast<Address>(offset) * 4;
  }

  Address base_;
  int64_t width_;
  int64_t count_ = 0;
  int64_t inner_ = 1;
  int64_t inner_stride_ = 0;
  int64_t outer_stride_ = 0;
};

/// The values of a dense tensor of one axis.
inline const float* floats(const Tensor& tensor) { return reinterpret_cast<const float*>(tensor.address); }
inline const int32_t* ints(const Tensor& tensor) { return reinterpret_cast<const int32_t*>(tensor.address); }

}  // namespace luce::device::cpu
