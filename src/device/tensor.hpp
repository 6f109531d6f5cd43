#pragma once

#include <array>
#include <cstdint>

#include "tensor/format.hpp"
#include "tensor/shape.hpp"

namespace luce::device {

/// Where a tensor's bytes are: a pointer on the CPU, a buffer device address on a GPU. Zero is "none".
using Address = uint64_t;

/// A view of device memory; it owns nothing. Weights are matrices in the device's packed layout and always whole;
/// activations are f32 or i32 and may be strided in every axis but the innermost.
struct Tensor {
  tensor::Format format = tensor::Format::f32;
  tensor::Shape shape;
  std::array<int64_t, tensor::Shape::kMaxRank> stride{};  // elements between neighbours on an axis; activations only
  Address address = 0;

  bool empty() const { return address == 0; }
};

/// A dense view: strides follow from the shape.
Tensor make_tensor(tensor::Format format, const tensor::Shape& shape, Address address);

/// The first `rows` entries of the outermost axis.
Tensor first_rows(const Tensor& whole, int64_t rows);

/// Columns [begin, begin + width) of the innermost axis of an activation.
Tensor columns(const Tensor& whole, int64_t begin, int64_t width);

/// Splits the innermost axis of an activation into [heads, width / heads].
Tensor split_heads(const Tensor& whole, int64_t heads);

/// Joins the two innermost axes, which must be dense, into one.
Tensor join_heads(const Tensor& whole);

}  // namespace luce::device
