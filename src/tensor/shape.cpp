#include "tensor/shape.hpp"

#include "base/check.hpp"

namespace luce::tensor {

Shape::Shape(std::initializer_list<int64_t> extents) : Shape(std::span(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const int64_t> extents) {
  LUCE_CHECK(extents.size() <= kMaxRank, "a tensor has at most four axes");
  for (const int64_t extent : extents) extents_[static_cast<size_t>(rank_++)] = extent;
}

int64_t Shape::rows() const {
  int64_t product = 1;
  for (int axis = 0; axis + 1 < rank_; ++axis) product *= extents_[static_cast<size_t>(axis)];
  return product;
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (int axis = 0; axis < rank_; ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(extents_[static_cast<size_t>(axis)]);
  }
  return text + "]";
}

}  // namespace luce::tensor
