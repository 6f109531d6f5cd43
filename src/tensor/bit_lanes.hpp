#pragma once

#include <cstdint>

namespace luce::tensor {

/// How small codes of `Bits` bits lie in bytes: they come in groups of Run * (8 / Bits) codes over Run bytes; within a
/// group the first Run codes take the lowest bits of the Run bytes, the next Run codes the bits above, and so on.
template <int Bits, int Run>
struct Lanes {
  static constexpr int kPlanes = 8 / Bits;
  static constexpr uint8_t kMask = static_cast<uint8_t>((1 << Bits) - 1);

  static constexpr int byte_of(int index) { return index / (Run * kPlanes) * Run + index % Run; }
  static constexpr int shift_of(int index) { return index / Run % kPlanes * Bits; }

  static constexpr int get(const uint8_t* bytes, int index) {
    return (bytes[byte_of(index)] >> shift_of(index)) & kMask;
  }
  /// The bits must be zero before.
  static constexpr void put(uint8_t* bytes, int index, int code) {
    bytes[byte_of(index)] = static_cast<uint8_t>(bytes[byte_of(index)] | ((code & kMask) << shift_of(index)));
  }
};

}  // namespace luce::tensor
