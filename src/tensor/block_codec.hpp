#pragma once

#include "tensor/block_layouts.hpp"
#include "tensor/iq_block_layouts.hpp"

namespace luce::tensor {

/// decode writes all values of a block, encode fills a block that is all zeros from its values.
/// The number of values is the block size of the format.
#define LUCE_BLOCK_CODEC(Block)                   \
  void decode(const Block& block, float* values); \
  void encode(const float* values, Block& block)

LUCE_BLOCK_CODEC(BlockQ4_0);
LUCE_BLOCK_CODEC(BlockQ4_1);
LUCE_BLOCK_CODEC(BlockQ5_0);
LUCE_BLOCK_CODEC(BlockQ5_1);
LUCE_BLOCK_CODEC(BlockQ8_0);
LUCE_BLOCK_CODEC(BlockQ2K);
LUCE_BLOCK_CODEC(BlockQ3K);
LUCE_BLOCK_CODEC(BlockQ4K);
LUCE_BLOCK_CODEC(BlockQ5K);
LUCE_BLOCK_CODEC(BlockQ6K);
LUCE_BLOCK_CODEC(BlockIq1S);
LUCE_BLOCK_CODEC(BlockIq1M);
LUCE_BLOCK_CODEC(BlockIq2Xxs);
LUCE_BLOCK_CODEC(BlockIq2Xs);
LUCE_BLOCK_CODEC(BlockIq2S);
LUCE_BLOCK_CODEC(BlockIq3Xxs);
LUCE_BLOCK_CODEC(BlockIq3S);
LUCE_BLOCK_CODEC(BlockIq4Nl);
LUCE_BLOCK_CODEC(BlockIq4Xs);
LUCE_BLOCK_CODEC(BlockTq1_0);
LUCE_BLOCK_CODEC(BlockTq2_0);
LUCE_BLOCK_CODEC(BlockMxfp4);
LUCE_BLOCK_CODEC(BlockNvfp4);

#undef LUCE_BLOCK_CODEC

}  // namespace luce::tensor
