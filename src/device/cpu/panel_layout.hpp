#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cpu/kernels/panel_kernels.hpp"
#include "tensor/format.hpp"

namespace luce::device::cpu {

/// How a block of the file's layout is cut for a panel of 16 rows: first the heads of all blocks, 16 rows side by side,
/// then dword after dword of each block, 16 rows side by side. No byte is added or dropped; rows that fill up the last
/// panel are zeros.
struct PanelLayout {
  int64_t block_weights = 0;
  int64_t block_bytes = 0;
  int64_t head_offset = 0;  // in the file's block
  int64_t head_bytes = 0;
  int64_t dword_offset = 0;  // in the file's block
  int64_t dwords = 0;
  PanelKernel PanelKernels::*kernel = nullptr;

  /// Bytes of a panel with rows of `width` weights.
  int64_t panel_bytes(int64_t width) const { return width / block_weights * block_bytes * kPanelRows; }
};

/// Null for formats that keep the file's layout.
const PanelLayout* find_panel_layout(tensor::Format format);

/// A matrix of the file's layout, its rows and their width.
struct FileRows {
  const std::byte* data = nullptr;
  int64_t rows = 0;
  int64_t width = 0;
};

/// Packs panels [begin, end) of the matrix to `to`, which is where panel 0 lies.
void pack_panels(const PanelLayout& layout, const FileRows& from, std::byte* to, int64_t begin, int64_t end);

/// One row back in the file's layout.
void unpack_row(const PanelLayout& layout, const std::byte* panels, int64_t row, int64_t width, std::byte* to);

}  // namespace luce::device::cpu
