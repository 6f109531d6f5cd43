#pragma once

#include <cstddef>
#include <span>

#include "tensor/format.hpp"

namespace luce::tensor {

/// The scalar truth about every format, which kernels are tested against. Not written for speed.
/// For all three: `blocks` holds packed_bytes(format, n) bytes, n the length of the other span; n fills whole blocks.

/// Values of the blocks, as the format defines them; integers and f64 are rounded to f32.
void dequantise(Format format, std::span<const std::byte> blocks, std::span<float> values);

/// Blocks that stand for finite `values`. F32, F16, BF16 and integers round to nearest; the other formats are chosen
/// with one or a few passes, near but not at the best their format allows.
void quantise(Format format, std::span<const float> values, std::span<std::byte> blocks);

/// Sum of products of the blocks' values with `x`, in double and in order.
double dot_reference(Format format, std::span<const std::byte> blocks, std::span<const float> x);

}  // namespace luce::tensor
