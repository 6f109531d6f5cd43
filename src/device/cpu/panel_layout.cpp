#include "device/cpu/panel_layout.hpp"

#include <algorithm>
#include <cstring>

namespace luce::device::cpu {
namespace {

using tensor::Format;

constexpr int64_t kDword = 4;

PanelLayout head_first(int64_t weights, int64_t head, int64_t dwords, PanelKernel PanelKernels::*kernel) {
  return {.block_weights = weights,
          .block_bytes = head + dwords * kDword,
          .head_offset = 0,
          .head_bytes = head,
          .dword_offset = head,
          .dwords = dwords,
          .kernel = kernel};
}

const PanelLayout kQ40 = head_first(32, 2, 4, &PanelKernels::q4_0);
const PanelLayout kQ80 = head_first(32, 2, 8, &PanelKernels::q8_0);
const PanelLayout kIq4Nl = head_first(32, 2, 4, &PanelKernels::iq4_nl);
const PanelLayout kMxfp4 = head_first(32, 1, 4, &PanelKernels::mxfp4);
const PanelLayout kQ4k = head_first(256, 0, 36, &PanelKernels::q4_k);
const PanelLayout kQ5k = head_first(256, 0, 44, &PanelKernels::q5_k);
const PanelLayout kIq4Xs = head_first(256, 0, 34, &PanelKernels::iq4_xs);
// The f16 factor stands behind the 208 bytes of codes and scales.
const PanelLayout kQ6k = {.block_weights = 256,
                          .block_bytes = 210,
                          .head_offset = 208,
                          .head_bytes = 2,
                          .dword_offset = 0,
                          .dwords = 52,
                          .kernel = &PanelKernels::q6_k};

/// Where the parts of one panel lie.
struct PanelPlace {
  std::byte *heads, *dwords;

  PanelPlace(const PanelLayout& layout, std::byte* panels, int64_t panel, int64_t width)
      : heads(panels + panel * layout.panel_bytes(width)),
        dwords(heads + width / layout.block_weights * layout.head_bytes * kPanelRows) {}
};

// Reads past the last row come from here.
struct RowSources {
  const std::byte* rows[kPanelRows];
};

void pack_block(const PanelLayout& layout, const RowSources& from, std::byte* head, std::byte* dwords) {
  for (int r = 0; r < kPanelRows; ++r)
    for (int64_t i = 0; i < layout.head_bytes; ++i)
      head[r * layout.head_bytes + i] = from.rows[r][layout.head_offset + i];
  for (int64_t d = 0; d < layout.dwords; ++d)
    for (int r = 0; r < kPanelRows; ++r)
      std::memcpy(dwords + (d * kPanelRows + r) * kDword, from.rows[r] + layout.dword_offset + d * kDword, kDword);
}

}  // namespace

const PanelLayout* find_panel_layout(Format format) {
  switch (format) {
    case Format::q4_0: return &kQ40;
    case Format::q8_0: return &kQ80;
    case Format::q4_k: return &kQ4k;
    case Format::q5_k: return &kQ5k;
    case Format::q6_k: return &kQ6k;
    case Format::iq4_nl: return &kIq4Nl;
    case Format::iq4_xs: return &kIq4Xs;
    case Format::mxfp4: return &kMxfp4;
    default: return nullptr;
  }
}

void pack_panels(const PanelLayout& layout, const FileRows& from, std::byte* to, int64_t begin, int64_t end) {
  constexpr int64_t kMostBlockBytes = 256;
  static constexpr std::byte kZeros[kMostBlockBytes] = {};
  const int64_t blocks = from.width / layout.block_weights, row_bytes = blocks * layout.block_bytes;
  for (int64_t panel = begin; panel < end; ++panel) {
    PanelPlace place(layout, to, panel, from.width);
    for (int64_t b = 0; b < blocks; ++b) {
      RowSources sources;
      for (int64_t r = 0; r < kPanelRows; ++r) {
        const int64_t row = panel * kPanelRows + r;
        sources.rows[r] = row < from.rows ? from.data + row * row_bytes + b * layout.block_bytes : kZeros;
      }
      pack_block(layout, sources, place.heads, place.dwords);
      place.heads += layout.head_bytes * kPanelRows;
      place.dwords += layout.dwords * kDword * kPanelRows;
    }
  }
}

void unpack_row(const PanelLayout& layout, const std::byte* panels, int64_t row, int64_t width, std::byte* to) {
  const int64_t blocks = width / layout.block_weights, r = row % kPanelRows;
  const std::byte* head = panels + row / kPanelRows * layout.panel_bytes(width);
  const std::byte* dwords = head + blocks * layout.head_bytes * kPanelRows;
  for (int64_t b = 0; b < blocks; ++b, to += layout.block_bytes) {
    std::memcpy(to + layout.head_offset, head + r * layout.head_bytes, static_cast<size_t>(layout.head_bytes));
    for (int64_t d = 0; d < layout.dwords; ++d)
      std::memcpy(to + layout.dword_offset + d * kDword, dwords + (d * kPanelRows + r) * kDword, kDword);
    head += layout.head_bytes * kPanelRows;
    dwords += layout.dwords * kDword * kPanelRows;
  }
}

}  // namespace luce::device::cpu
