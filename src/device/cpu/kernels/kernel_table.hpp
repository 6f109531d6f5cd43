#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cpu/kernels/panel_kernels.hpp"

namespace luce::device::cpu {

enum class Isa { portable, avx2, avx2_vnni, avx512, avx512_vnni };

/// Some rows of a packed matrix times some activations: out[r][out_begin + w] = weights[w] . x[r].
/// Each product is summed in one fixed order, whatever the numbers of rows.
struct DotTask {
  const std::byte* weights = nullptr;  // first packed row
  int64_t row_bytes = 0;
  int64_t weight_rows = 0;
  int64_t width = 0;
  const float* const* x = nullptr;  // [x_rows] rows of `width`
  float* const* out = nullptr;      // [x_rows]
  int64_t x_rows = 0;
  int64_t out_begin = 0;
  float* lines = nullptr;  // [weight_rows, line_stride(width)] scratch
};

/// Floats between dequantised rows in scratch.
[[gnu::always_inline]] constexpr int64_t line_stride(int64_t width) { return (width + 31) / 32 * 32; }

using DotKernel = void (*)(const DotTask&);
/// One packed row of `width` weights to f32.
using DequantiseKernel = void (*)(const std::byte* row, int64_t width, float* out);

struct MatrixKernel {
  DotKernel dot = nullptr;  // null for formats that lie in panels
  DequantiseKernel dequantise = nullptr;
};

/// Formats with kernels of their own; all others are dequantised by rows and then take f32.
struct MatrixKernels {
  MatrixKernel f32, f16, bf16;
  MatrixKernel q4_0, q4_1, q5_0, q5_1, q8_0;
  MatrixKernel q2_k, q3_k, q4_k, q5_k, q6_k;
  MatrixKernel iq4_nl, iq4_xs, mxfp4;
};

/// out = x * factor * weight over n values; a null weight counts as ones.
struct ScaleTask {
  const float* x = nullptr;
  const float* weight = nullptr;
  float* out = nullptr;
  float factor = 1.0F;
  int64_t n = 0;
};

/// One row of a causal convolution: out = silu(sum over taps of kernel[t] * inputs[t]).
struct ConvolveTask {
  const float* const* inputs = nullptr;  // [taps] rows of n channels
  const float* kernel = nullptr;         // [taps, n]
  float* out = nullptr;
  int taps = 0;
  int64_t n = 0;
};

struct VectorKernels {
  float (*sum_of_squares)(const float* x, int64_t n);
  void (*scale)(const ScaleTask&);
  void (*add)(float* x, const float* y, int64_t n);
  void (*add_scaled)(float* x, const float* y, float factor, int64_t n);  // x += factor * y
  void (*swiglu)(const float* gate, const float* up, float* out, int64_t n);
  void (*multiply_sigmoid)(float* x, const float* gate, int64_t n);
  void (*multiply_silu)(float* x, const float* gate, int64_t n);
  float (*maximum)(const float* x, int64_t n);
  float (*exponentials)(float* x, float shift, int64_t n);  // x = exp(x - shift); returns their sum
  void (*convolve)(const ConvolveTask&);
  void (*to_f16)(const float* x, std::byte* out, int64_t n);
  void (*to_q8_0)(const float* x, std::byte* out, int64_t n);  // n is a multiple of 32
};

/// scores[h][p] = scale * q[h] . k[p] for the query heads that share one key head.
struct ScoreTask {
  const float* q = nullptr;  // [heads, width]
  int64_t q_stride = 0;
  int64_t heads = 0;
  const std::byte* k = nullptr;  // [positions, width], cache format
  int64_t k_stride_bytes = 0;
  int64_t positions = 0;
  int64_t width = 0;
  float scale = 1.0F;
  float* scores = nullptr;  // [heads, score_stride]
  int64_t score_stride = 0;
};

/// out[h] = sum over positions of weights[h][p] * v[p].
struct BlendTask {
  const float* weights = nullptr;  // [heads, weight_stride]
  int64_t weight_stride = 0;
  int64_t heads = 0;
  const std::byte* v = nullptr;  // [positions, width], cache format
  int64_t v_stride_bytes = 0;
  int64_t positions = 0;
  int64_t width = 0;
  float* out = nullptr;  // [heads, width], dense
};

struct CacheKernels {
  void (*score)(const ScoreTask&);
  void (*blend)(const BlendTask&);
};

/// Some columns of one value head through the gated delta rule, row after row.
struct DeltaTask {
  float* state = nullptr;  // [key_width, columns] of [key_width, state_stride]
  int64_t state_stride = 0;
  int64_t key_width = 0;
  int64_t columns = 0;
  int64_t rows = 0;
  const float* q = nullptr;  // [rows, key_width]
  const float* k = nullptr;
  const float* v = nullptr;      // [rows, columns]
  const float* decay = nullptr;  // [rows]
  const float* beta = nullptr;   // [rows]
  float* out = nullptr;          // [rows, columns]
  int64_t q_stride = 0, k_stride = 0, v_stride = 0, decay_stride = 0, beta_stride = 0, out_stride = 0;
  float scale = 1.0F;  // on out
};

/// Everything that one ISA computes; `ran` becomes 1 as soon as one of its kernels has run.
struct KernelTable {
  Isa isa;
  const char* name;
  MatrixKernels matrix;
  PanelKernels panel;
  VectorKernels vector;
  CacheKernels cache_f32, cache_f16, cache_q8_0;
  void (*delta)(const DeltaTask&);
  uint8_t* ran;
};

extern constinit const KernelTable kPortableKernels;
#if defined(__x86_64__)
extern constinit const KernelTable kAvx2Kernels;
extern constinit const KernelTable kAvx2VnniKernels;
extern constinit const KernelTable kAvx512Kernels;
extern constinit const KernelTable kAvx512VnniKernels;
#endif

}  // namespace luce::device::cpu
