#include "device/cpu/kernels/isa_region.hpp"
#include "device/cpu/kernels/kernel_table.hpp"

namespace luce::device::cpu {
namespace {
#include "device/cpu/kernels/simd_portable.inl"

#include "device/cpu/kernels/integer_portable.inl"

#include "device/cpu/kernels/kernels.inl"
}  // namespace

constinit const KernelTable kPortableKernels = make_table(Isa::portable, "portable");

}  // namespace luce::device::cpu
