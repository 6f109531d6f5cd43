#pragma once

#include <cstdint>

namespace luce::tensor {

/// Blocks as they lie in GGUF files, little endian. `scale` and `low` are binary16 bits unless said otherwise; where
/// the codes of a block lie in its bytes is told by Lanes (bit_lanes.hpp). In a file they have no alignment.
inline constexpr int kSuperBlock = 256;

struct BlockQ4_0 {
  uint16_t scale;
  uint8_t codes[16];  // w = scale * (code - 8)
};
struct BlockQ4_1 {
  uint16_t scale;
  uint16_t low;
  uint8_t codes[16];  // w = scale * code + low
};
struct BlockQ5_0 {
  uint16_t scale;
  uint8_t high[4];  // fifth bits
  uint8_t codes[16];
};
struct BlockQ5_1 {
  uint16_t scale;
  uint16_t low;
  uint8_t high[4];
  uint8_t codes[16];
};
struct BlockQ8_0 {
  uint16_t scale;
  int8_t codes[32];
};

struct BlockQ2K {
  uint8_t scales[16];  // low half scale, high half minimum, of 16 weights each
  uint8_t codes[64];
  uint16_t scale;
  uint16_t low;  // w = scale * s * code - low * m
};
struct BlockQ3K {
  uint8_t high[32];
  uint8_t codes[64];
  uint8_t scales[12];  // 16 scales of 6 bits, less 32
  uint16_t scale;
};
struct BlockQ4K {
  uint16_t scale;
  uint16_t low;
  uint8_t scales[12];  // 8 scales and 8 minima of 6 bits
  uint8_t codes[128];
};
struct BlockQ5K {
  uint16_t scale;
  uint16_t low;
  uint8_t scales[12];
  uint8_t high[32];
  uint8_t codes[128];
};
struct BlockQ6K {
  uint8_t codes[128];
  uint8_t high[64];
  int8_t scales[16];
  uint16_t scale;
};

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22);
static_assert(sizeof(BlockQ5_1) == 24 && sizeof(BlockQ8_0) == 34);
static_assert(sizeof(BlockQ2K) == 84 && sizeof(BlockQ3K) == 110 && sizeof(BlockQ4K) == 144);
static_assert(sizeof(BlockQ5K) == 176 && sizeof(BlockQ6K) == 210);

}  // namespace luce::tensor
