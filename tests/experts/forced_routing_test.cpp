#include "experts/forced_routing.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace luce::experts {
namespace {

using device::RowClass;
using Ids = std::vector<int32_t>;

/// Two sequences of 3 and 2 tokens; token t of sequence s chooses 2t + s, and the next, in the second layer plus 4.
Trace small_trace() {
  Trace trace(2, 16, 2);
  for (uint16_t sequence = 0; sequence < 2; ++sequence) {
    trace.add_sequence();
    for (uint16_t token = 0; token < 3 - sequence; ++token) {
      const auto first = static_cast<uint16_t>(2 * token + sequence);
      trace.add_token(std::vector<uint16_t>{first, static_cast<uint16_t>(first + 1), static_cast<uint16_t>(first + 4),
                                            static_cast<uint16_t>(first + 5)});
    }
  }
  return trace;
}

const std::vector<int> kExperts = {16, 0, 16};

Ids choose(ForcedRouting& rule, int layer, int row, RowClass row_class) {
  Ids ids = {15, 14};
  const std::vector<float> logits(16), weights(2);
  EXPECT_TRUE(rule.revise({layer, row, row_class, logits, weights, ids}));
  return ids;
}

TEST(ForcedRouting, DecodeRowsFollowTheirSequencesOverAndOver) {
  ForcedRouting rule(small_trace(), kExperts, 2);
  for (int step = 0; step < 7; ++step) {
    rule.begin(0, 2, 2);
    for (int sequence = 0; sequence < 2; ++sequence) {
      const int32_t first = 2 * (step % (3 - sequence)) + sequence;
      EXPECT_EQ(choose(rule, 0, sequence, RowClass::decode), (Ids{first, first + 1})) << step;
    }
    rule.begin(2, 2, 2);
    EXPECT_EQ(choose(rule, 2, 0, RowClass::decode)[0], 2 * (step % 3) + 4) << step;
  }
}

TEST(ForcedRouting, PromptRowsTakeConsecutiveTokens) {
  ForcedRouting rule(small_trace(), kExperts, 2);
  int32_t expected = 0;
  for (int step = 0; step < 3; ++step) {
    rule.begin(0, 4, 2);
    for (int row = 0; row < 4; ++row, expected = (expected + 2) % 6)
      EXPECT_EQ(choose(rule, 0, row, RowClass::prompt)[0], expected);
  }
}

TEST(ForcedRouting, MoreRowsThanSequencesFollowThemFurtherOn) {
  ForcedRouting rule(small_trace(), kExperts, 2);
  rule.begin(0, 3, 2);
  for (int row = 0; row < 3; ++row) choose(rule, 0, row, RowClass::decode);
  EXPECT_EQ(choose(rule, 0, 2, RowClass::decode)[0], 2);  // 97 tokens on, of 3
}

TEST(ForcedRouting, RefusesATraceOfAnotherShape) {
  EXPECT_THROW(ForcedRouting(small_trace(), {16, 16, 16}, 2), Error);
  EXPECT_THROW(ForcedRouting(small_trace(), {8, 8}, 2), Error);
  EXPECT_THROW(ForcedRouting(small_trace(), kExperts, 3), Error);
  EXPECT_THROW(ForcedRouting(small_trace(), {0, 0}, 2), Error);
  EXPECT_THROW(ForcedRouting(Trace(2, 16, 2), kExperts, 2), Error);
}

}  // namespace
}  // namespace luce::experts
