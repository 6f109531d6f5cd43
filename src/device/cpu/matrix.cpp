#include "device/cpu/matrix.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "device/cpu/isa.hpp"
#include "tensor/reference.hpp"

namespace luce::device::cpu {
namespace {

constexpr int64_t kRowStep = 4;         // rows that kernels take together
constexpr int64_t kPanelStep = 32;      // two panels, whose products fill a block of activations
constexpr int64_t kPieceBytes = 32768;  // of weights; large enough to claim, small enough to share
constexpr int64_t kLineFloats = 65536;  // dequantised rows stay in the second-level cache
constexpr int64_t kPiecesPerThread = 6;

void multiply_panels(const Worker& worker, const Matrix& matrix, RowRange range, const RowPointers& rows) {
  LUCE_CHECK(range.begin % kPanelRows == 0 && rows.blocks != nullptr, "panels are multiplied from their first row on");
  const int64_t panel_bytes = matrix.panels->panel_bytes(matrix.width);
  (worker.machine.kernels.panel.*
   matrix.panels->kernel)({.weights = matrix.data + range.begin / kPanelRows * panel_bytes,
                           .panel_bytes = panel_bytes,
                           .weight_rows = range.end - range.begin,
                           .width = matrix.width,
                           .x = rows.blocks,
                           .out = rows.out,
                           .x_rows = rows.count,
                           .out_begin = range.begin - rows.out_origin});
}

void dequantise_rows(const Matrix& matrix, RowRange range, float* lines) {
  const int64_t stride = line_stride(matrix.width);
  for (int64_t w = range.begin; w < range.end; ++w) {
    const std::span packed(matrix.data + w * matrix.row_bytes, static_cast<size_t>(matrix.row_bytes));
    const std::span line(lines + (w - range.begin) * stride, static_cast<size_t>(matrix.width));
    tensor::dequantise(matrix.format, packed, line);
  }
}

}  // namespace

Matrix::Matrix(tensor::Format of, Address address, int64_t row_count, int64_t row_width)
    : format(of),
      data(reinterpret_cast<const std::byte*>(address)),
      rows(row_count),
      width(row_width),
      row_bytes(tensor::packed_bytes(of, row_width)),
      panels(find_panel_layout(of)) {}

int64_t rows_per_piece(const Machine& machine, const Matrix& matrix, int64_t x_rows) {
  const int64_t fair = matrix.rows / (machine.pool.threads() * kPiecesPerThread);
  const int64_t least = kPieceBytes / (matrix.row_bytes * std::min<int64_t>(x_rows, 8));
  const int64_t most = std::min<int64_t>(kLineFloats / line_stride(matrix.width), 64);
  if (matrix.panels != nullptr) return std::max(kPanelStep, std::max(fair, least) / kPanelStep * kPanelStep);
  return std::max(kRowStep, std::min(std::max(fair, least), most) / kRowStep * kRowStep);
}

void multiply_rows(const Worker& worker, const Matrix& matrix, RowRange range, const RowPointers& rows) {
  if (matrix.panels != nullptr) return multiply_panels(worker, matrix, range, rows);
  DotTask task{.weights = matrix.data + range.begin * matrix.row_bytes,
               .row_bytes = matrix.row_bytes,
               .weight_rows = range.end - range.begin,
               .width = matrix.width,
               .x = rows.x,
               .out = rows.out,
               .x_rows = rows.count,
               .out_begin = range.begin - rows.out_origin};
  task.lines = worker.floats(Use::lines, task.weight_rows * line_stride(matrix.width));
  const KernelTable& kernels = worker.machine.kernels;
  if (const MatrixKernel* kernel = find_matrix_kernel(kernels, matrix.format); kernel != nullptr) {
    kernel->dot(task);
    return;
  }
  dequantise_rows(matrix, range, task.lines);
  task.weights = reinterpret_cast<const std::byte*>(task.lines);
  task.row_bytes = line_stride(matrix.width) * 4;
  kernels.matrix.f32.dot(task);
}

void read_row(const Worker& worker, const Matrix& matrix, int64_t row, float* out) {
  const std::byte* packed = matrix.data + row * matrix.row_bytes;
  if (matrix.panels != nullptr) {
    auto* const unpacked = reinterpret_cast<std::byte*>(worker.floats(Use::lines, (matrix.row_bytes + 3) / 4));
    unpack_row(*matrix.panels, matrix.data, row, matrix.width, unpacked);
    packed = unpacked;
  }
  if (const MatrixKernel* kernel = find_matrix_kernel(worker.machine.kernels, matrix.format); kernel != nullptr) {
    kernel->dequantise(packed, matrix.width, out);
    return;
  }
  tensor::dequantise(matrix.format, {packed, static_cast<size_t>(matrix.row_bytes)},
                     {out, static_cast<size_t>(matrix.width)});
}

}  // namespace luce::device::cpu
