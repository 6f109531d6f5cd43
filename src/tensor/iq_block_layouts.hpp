#pragma once

#include <cstdint>

namespace luce::tensor {

/// Blocks of the grid, table and ternary formats as they lie in GGUF files; see block_layouts.hpp.

struct BlockIq2Xxs {
  uint16_t scale;
  uint8_t groups[64];  // for 32 weights: 4 grid indices, then 32 bits: 4 sign indices of 7 bits, scale of 4 bits
};
struct BlockIq2Xs {
  uint16_t scale;
  uint16_t points[32];  // grid index of 9 bits, sign index of 7 bits
  uint8_t scales[8];
};
struct BlockIq2S {
  uint16_t scale;
  uint8_t points[32];
  uint8_t signs[32];
  uint8_t high[8];  // bits 8 and 9 of the grid indices
  uint8_t scales[8];
};
struct BlockIq3Xxs {
  uint16_t scale;
  uint8_t points[64];
  uint8_t groups[32];  // for 32 weights 32 bits: 4 sign indices of 7 bits, scale of 4 bits
};
struct BlockIq3S {
  uint16_t scale;
  uint8_t points[64];
  uint8_t high[8];
  uint8_t signs[32];
  uint8_t scales[4];
};
struct BlockIq1S {
  uint16_t scale;
  uint8_t points[32];
  uint16_t groups[8];  // for 32 weights: 4 times 3 high bits, scale of 3 bits, sign of the delta
};
struct BlockIq1M {
  uint8_t points[32];
  uint8_t high[16];    // for 8 weights: 3 high bits, sign of the delta
  uint16_t scales[4];  // 4 scales of 3 bits each, top 4 bits are a part of the block's binary16 scale
};
struct BlockIq4Nl {
  uint16_t scale;
  uint8_t codes[16];
};
struct BlockIq4Xs {
  uint16_t scale;
  uint8_t scales_high[2];
  uint8_t scales_low[4];
  uint8_t codes[128];
};

struct BlockTq1_0 {
  uint8_t fives[48];  // five ternary digits a byte, as a fraction of 256
  uint8_t fours[4];
  uint16_t scale;
};
struct BlockTq2_0 {
  uint8_t codes[64];
  uint16_t scale;
};
struct BlockMxfp4 {
  uint8_t exponent;  // E8M0
  uint8_t codes[16];
};
struct BlockNvfp4 {
  uint8_t scales[4];  // UE4M3, of 16 weights each
  uint8_t codes[32];
};

static_assert(sizeof(BlockIq2Xxs) == 66 && sizeof(BlockIq2Xs) == 74 && sizeof(BlockIq2S) == 82);
static_assert(sizeof(BlockIq3Xxs) == 98 && sizeof(BlockIq3S) == 110);
static_assert(sizeof(BlockIq1S) == 50 && sizeof(BlockIq1M) == 56);
static_assert(sizeof(BlockIq4Nl) == 18 && sizeof(BlockIq4Xs) == 136);
static_assert(sizeof(BlockTq1_0) == 54 && sizeof(BlockTq2_0) == 66);
static_assert(sizeof(BlockMxfp4) == 17 && sizeof(BlockNvfp4) == 36);

}  // namespace luce::tensor
