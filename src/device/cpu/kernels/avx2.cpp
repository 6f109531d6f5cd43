#if defined(__x86_64__)
#include <immintrin.h>

#include "device/cpu/kernels/isa_region.hpp"
#include "device/cpu/kernels/kernel_table.hpp"

LUCE_BEGIN_AVX2

namespace luce::device::cpu {
namespace {
#include "device/cpu/kernels/simd_avx2.inl"

#include "device/cpu/kernels/integer_avx2.inl"

#include "device/cpu/kernels/codes_avx2.inl"

#include "device/cpu/kernels/kernels.inl"
}  // namespace

constinit const KernelTable kAvx2Kernels = make_table(Isa::avx2, "avx2");

}  // namespace luce::device::cpu
#endif
