#if defined(__x86_64__)
#include <immintrin.h>

#include "device/cpu/kernels/isa_region.hpp"
#include "device/cpu/kernels/kernel_table.hpp"

LUCE_BEGIN_AVX512

namespace luce::device::cpu {
namespace {
#include "device/cpu/kernels/simd_avx512.inl"

#include "device/cpu/kernels/integer_avx512.inl"

#include "device/cpu/kernels/codes_avx512.inl"

#include "device/cpu/kernels/kernels.inl"
}  // namespace

constinit const KernelTable kAvx512Kernels = make_table(Isa::avx512, "avx512");

}  // namespace luce::device::cpu
#endif
