#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace luce::tensor {

/// Extents of a tensor, outermost first, so that [rows, width] has `width` values side by side in memory.
class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<int64_t> extents);
  explicit Shape(std::span<const int64_t> extents);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return extents_[static_cast<size_t>(axis)]; }
  /// Extent of the innermost axis.
  int64_t width() const { return rank_ == 0 ? 1 : extents_[static_cast<size_t>(rank_ - 1)]; }
  /// Product of all extents but the innermost.
  int64_t rows() const;
  int64_t elements() const { return rows() * width(); }
  std::string to_string() const;
  bool operator==(const Shape&) const = default;

 private:
  std::array<int64_t, kMaxRank> extents_{};
  int rank_ = 0;
};

}  // namespace luce::tensor
