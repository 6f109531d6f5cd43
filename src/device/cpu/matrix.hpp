#pragma once

#include "device/cpu/machine.hpp"
#include "device/cpu/panel_layout.hpp"
#include "device/operations.hpp"

namespace luce::device::cpu {

/// A packed matrix: panels of 16 rows, or the file's blocks, row after row.
struct Matrix {
  tensor::Format format = tensor::Format::f32;
  const std::byte* data = nullptr;
  int64_t rows = 0;
  int64_t width = 0;
  int64_t row_bytes = 0;
  const PanelLayout* panels = nullptr;  // null: row after row

  Matrix(tensor::Format format, Address address, int64_t rows, int64_t width);
};

/// Rows of activations in and out, by pointer. A matrix of panels takes them in 8 bits.
struct RowPointers {
  const float* const* x = nullptr;                 // [count]
  const ActivationBlock* const* blocks = nullptr;  // [count], for panels
  float* const* out = nullptr;                     // [count]
  int64_t count = 0;
  int64_t out_origin = 0;  // the matrix row whose product is out[i][0]
};

/// Matrix rows [begin, end).
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;
};

/// Matrix rows per piece of work, for `x_rows` activation rows, so that all threads find some; whole pairs of panels.
int64_t rows_per_piece(const Machine& machine, const Matrix& matrix, int64_t x_rows);

/// out[i][w - origin] = matrix[w] . x[i] for w in the range, which begins with a panel.
void multiply_rows(const Worker& worker, const Matrix& matrix, RowRange range, const RowPointers& rows);

/// One row of the matrix as f32.
void read_row(const Worker& worker, const Matrix& matrix, int64_t row, float* out);

}  // namespace luce::device::cpu
