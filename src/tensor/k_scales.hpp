#pragma once

#include <cstdint>

#include "tensor/bit_lanes.hpp"

namespace luce::tensor {

/// The 6-bit scale and minimum of sub-block `index` (0 to 7) in the 12 bytes of Q4_K and Q5_K: bytes 0 to 3 and 4 to 7
/// hold the first four of each, the last four lie in bytes 8 to 11 with their top two bits above the first ones.
struct ScaleAndMin {
  int scale;
  int min;
};

inline ScaleAndMin get_scale_and_min(const uint8_t* bytes, int index) {
  if (index < 4) return {bytes[index] & 63, bytes[index + 4] & 63};
  return {(bytes[index + 4] & 15) | (bytes[index - 4] >> 6 << 4), (bytes[index + 4] >> 4) | (bytes[index] >> 6 << 4)};
}

/// The bytes must be zero before the first call.
inline void put_scale_and_min(uint8_t* bytes, int index, ScaleAndMin value) {
  const auto add = [&](int byte, int bits) { bytes[byte] = static_cast<uint8_t>(bytes[byte] | bits); };
  if (index < 4) {
    add(index, value.scale);
    add(index + 4, value.min);
    return;
  }
  add(index + 4, (value.scale & 15) | ((value.min & 15) << 4));
  add(index - 4, value.scale >> 4 << 6);
  add(index, value.min >> 4 << 6);
}

/// The 16 scales of Q3_K in 12 bytes: four low bits in bytes 0 to 7, two high bits in bytes 8 to 11; stored plus 32.
inline int get_q3_scale(const uint8_t* bytes, int index) {
  return (Lanes<4, 8>::get(bytes, index) | (Lanes<2, 4>::get(bytes + 8, index) << 4)) - 32;
}

inline void put_q3_scale(uint8_t* bytes, int index, int scale) {
  Lanes<4, 8>::put(bytes, index, (scale + 32) & 15);
  Lanes<2, 4>::put(bytes + 8, index, (scale + 32) >> 4);
}

}  // namespace luce::tensor
