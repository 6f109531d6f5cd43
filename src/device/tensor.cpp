#include "device/tensor.hpp"

#include "base/check.hpp"

namespace luce::device {
namespace {

using tensor::Shape;

Shape with_last_two(const Shape& shape, int64_t outer, int64_t inner) {
  switch (shape.rank()) {
    case 1: return {outer, inner};
    case 2: return {shape[0], outer, inner};
    case 3: return {shape[0], shape[1], outer, inner};
    default: break;
  }
  LUCE_CHECK(false, "only one to three axes can be split");
  return {};
}

Shape with_extent(const Shape& shape, int axis, int64_t extent) {
  const auto at = [&](int i) { return i == axis ? extent : shape[i]; };
  switch (shape.rank()) {
    case 1: return {at(0)};
    case 2: return {at(0), at(1)};
    case 3: return {at(0), at(1), at(2)};
    default: return {at(0), at(1), at(2), at(3)};
  }
}

int64_t element_bytes(tensor::Format format) { return tensor::info(format).block_bytes; }

}  // namespace

Tensor make_tensor(tensor::Format format, const Shape& shape, Address address) {
  Tensor made{format, shape, {}, address};
  int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    made.stride[static_cast<size_t>(axis)] = step;
    step *= shape[axis];
  }
  return made;
}

Tensor first_rows(const Tensor& whole, int64_t rows) {
  LUCE_CHECK(rows >= 0 && rows <= whole.shape[0], "more rows asked for than there are");
  Tensor view = whole;
  view.shape = with_extent(whole.shape, 0, rows);
  return view;
}

Tensor columns(const Tensor& whole, int64_t begin, int64_t width) {
  LUCE_CHECK(begin >= 0 && begin + width <= whole.shape.width(), "columns outside the tensor");
  LUCE_CHECK(tensor::info(whole.format).block_elements == 1, "packed tensors have no columns");
  Tensor view = whole;
  view.shape = with_extent(whole.shape, whole.shape.rank() - 1, width);
  view.address += static_cast<Address>(begin * element_bytes(whole.format));
  return view;
}

Tensor split_heads(const Tensor& whole, int64_t heads) {
  const int64_t width = whole.shape.width();
  LUCE_CHECK(heads > 0 && width % heads == 0, "heads do not divide the width");
  Tensor view = whole;
  view.shape = with_last_two(whole.shape, heads, width / heads);
  const auto last = static_cast<size_t>(whole.shape.rank() - 1);
  view.stride[last] = width / heads;
  view.stride[last + 1] = 1;
  return view;
}

Tensor join_heads(const Tensor& whole) {
  const int rank = whole.shape.rank();
  LUCE_CHECK(rank == 3, "only [rows, heads, width] can be joined");
  LUCE_CHECK(whole.stride[1] == whole.shape[2], "heads do not lie side by side");
  Tensor view = whole;
  view.shape = {whole.shape[0], whole.shape[1] * whole.shape[2]};
  view.stride = {whole.stride[0], 1, 0, 0};
  return view;
}

}  // namespace luce::device
