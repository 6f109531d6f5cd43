// All kernels of one ISA, in terms of the vectors of a simd_*.inl that was included before.
uint8_t ran = 0;

LUCE_INLINE void mark_run() {
  if (__atomic_load_n(&ran, __ATOMIC_RELAXED) == 0) __atomic_store_n(&ran, uint8_t{1}, __ATOMIC_RELAXED);
}

LUCE_INLINE float load_half(const uint8_t* p) {
  uint16_t bits;
  __builtin_memcpy(&bits, p, sizeof bits);
  return half_to_float(bits);
}

#include "device/cpu/kernels/formats.inl"

#include "device/cpu/kernels/formats_k.inl"

#include "device/cpu/kernels/formats_codebook.inl"

#include "device/cpu/kernels/vectors.inl"

#include "device/cpu/kernels/dots.inl"

#include "device/cpu/kernels/attention.inl"

#include "device/cpu/kernels/delta.inl"

#include "device/cpu/kernels/panel_formats.inl"

#include "device/cpu/kernels/panels.inl"

template <typename Format>
constexpr MatrixKernel rows_only() {
  return {nullptr, dequantise<Format>};
}

template <typename Format>
constexpr MatrixKernel matrix_kernel() {
  return {dot<Format>, dequantise<Format>};
}

constexpr MatrixKernels matrix_kernels() {
  return {.f32 = matrix_kernel<Plain<F32>>(),
          .f16 = matrix_kernel<Plain<F16>>(),
          .bf16 = matrix_kernel<Plain<Bf16>>(),
          .q4_0 = rows_only<Q40>(),
          .q4_1 = matrix_kernel<Q41>(),
          .q5_0 = matrix_kernel<Q50>(),
          .q5_1 = matrix_kernel<Q51>(),
          .q8_0 = rows_only<Q8>(),
          .q2_k = matrix_kernel<Q2k>(),
          .q3_k = matrix_kernel<Q3k>(),
          .q4_k = rows_only<Q4k>(),
          .q5_k = rows_only<Q5k>(),
          .q6_k = rows_only<Q6k>(),
          .iq4_nl = rows_only<Iq4Nl>(),
          .iq4_xs = rows_only<Iq4Xs>(),
          .mxfp4 = rows_only<Mxfp4>()};
}

template <typename Line>
constexpr CacheKernels cache_kernels() {
  return {score<Line>, blend<Line>};
}

constexpr KernelTable make_table(Isa isa, const char* name) {
  return {.isa = isa,
          .name = name,
          .matrix = matrix_kernels(),
          .panel = panel_kernels(),
          .vector = {.sum_of_squares = sum_of_squares,
                     .scale = scale_row,
                     .add = add_row,
                     .add_scaled = add_scaled_row,
                     .swiglu = swiglu_row,
                     .multiply_sigmoid = multiply_sigmoid_row,
                     .multiply_silu = multiply_silu_row,
                     .maximum = maximum_of_row,
                     .exponentials = exponentials_of_row,
                     .convolve = convolve_row,
                     .to_f16 = to_f16_row,
                     .to_q8_0 = to_q8_0_row},
          .cache_f32 = cache_kernels<PlainLine<F32>>(),
          .cache_f16 = cache_kernels<PlainLine<F16>>(),
          .cache_q8_0 = cache_kernels<Q8Line>(),
          .delta = delta,
          .ran = &ran};
}
