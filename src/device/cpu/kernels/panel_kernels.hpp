#pragma once

#include <cstddef>
#include <cstdint>

namespace luce::device::cpu {

/// Rows of a matrix that lie interleaved, 4 bytes of each in turn.
constexpr int kPanelRows = 16;
/// Activations that share a scale.
constexpr int kActivationBlock = 32;

/// 32 activations in 8 bits: x[i] = scale * codes[i], codes in -127..127.
struct ActivationBlock {
  int8_t codes[kActivationBlock];
  float scale;
  float scaled_sum;          // scale * sum of codes
  int32_t negative_sum;      // -(sum of codes)
  int32_t negative_low_sum;  // of the first 16 alone
};

/// Some panels of a matrix times some rows of activations: out[r][out_begin + w] = weights[w] . x[r]. Each product is
/// an exact integer per block of 32 (or 16), times the scales, added up in the order of the blocks, whatever the
/// numbers of rows.
struct PanelTask {
  const std::byte* weights = nullptr;  // first panel
  int64_t panel_bytes = 0;
  int64_t weight_rows = 0;  // the last panel may hold fewer than 16
  int64_t width = 0;
  const ActivationBlock* const* x = nullptr;  // [x_rows] rows of width / 32
  float* const* out = nullptr;                // [x_rows]
  int64_t x_rows = 0;
  int64_t out_begin = 0;
};

using PanelKernel = void (*)(const PanelTask&);

/// Formats whose matrices are packed into panels.
struct PanelKernels {
  PanelKernel q4_0, q8_0, q4_k, q5_k, q6_k, iq4_nl, iq4_xs, mxfp4;
  /// A block's scale is its largest magnitude / 127; codes are rounded to nearest, ties to even. n is a multiple of 32.
  void (*quantise)(const float* x, int64_t n, ActivationBlock* out);
};

}  // namespace luce::device::cpu
