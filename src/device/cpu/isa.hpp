#pragma once

#include <span>
#include <string>
#include <string_view>

#include "device/cpu/kernels/kernel_table.hpp"
#include "tensor/format.hpp"

namespace luce::device::cpu {

/// Tables that this processor can run, best first; never empty, since `portable` is the last.
std::span<const KernelTable* const> available_tables();

/// "auto" takes the best table. Throws Error{usage} for an unknown name and Error{unsupported} for an ISA that this
/// processor lacks; both list the names that work here.
const KernelTable& choose_table(std::string_view isa);

/// The kernel of a format, or null when its matrices are dequantised by rows and then multiplied as f32.
const MatrixKernel* find_matrix_kernel(const KernelTable& table, tensor::Format format);

/// For people: how a matrix of this format is multiplied, for example "avx2 F16, F32 activations".
std::string describe_kernel(const KernelTable& table, tensor::Format format);

}  // namespace luce::device::cpu
