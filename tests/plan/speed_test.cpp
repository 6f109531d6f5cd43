#include "plan/speed.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "plan/hit_model.hpp"
#include "plan/shapes.hpp"

namespace luce::plan {
namespace {

TEST(Speed, TrafficCountsWhatOneTokenReads) {
  const ModelShape shape = hybrid_shape(8, 16, 2);
  const TokenTraffic traffic = token_traffic(shape, tensor::Format::f16, 100);
  EXPECT_EQ(traffic.dense_bytes, 8 * 50'000 + 128'000 + 64);         // one of 1000 rows of the token table
  EXPECT_EQ(traffic.kv_bytes, 2 * 100 * (64 + 32) * 2 + 6 * 3'000);  // two layers attend, six are recurrent
  EXPECT_EQ(traffic.expert_bytes, 2 * 4 * (1'920 + 2'304));
  EXPECT_EQ(traffic.total_bytes(), traffic.dense_bytes + traffic.kv_bytes + traffic.expert_bytes);
}

TEST(Speed, IsBytesOverBandwidth) {
  const TokenTraffic traffic = {1'500'000'000, 0, 600'000'000};
  const Bandwidths bandwidths = {21e9, 3e9};
  const DecodeEstimate all = estimate_decode(traffic, 1.0, bandwidths);
  EXPECT_NEAR(all.tokens_per_second, 10.0, 1e-9);
  EXPECT_EQ(all.link_seconds, 0.0);
  EXPECT_EQ(all.bound, Bound::memory);
  const DecodeEstimate half = estimate_decode(traffic, 0.5, bandwidths);
  EXPECT_NEAR(half.memory_seconds, 0.1, 1e-12);
  EXPECT_NEAR(half.link_seconds, 0.1, 1e-12);
  EXPECT_NEAR(half.tokens_per_second, 5.0, 1e-9);
  EXPECT_EQ(estimate_decode(traffic, 0.1, bandwidths).bound, Bound::link);
  EXPECT_EQ(estimate_decode(traffic, -3.0, bandwidths).link_seconds,
            estimate_decode(traffic, 0.0, bandwidths).link_seconds);
}

TEST(Speed, RefusesBandwidthOfZero) {
  EXPECT_THROW(estimate_decode({1, 1, 1}, 0.5, {0.0, 1.0}), Error);
  EXPECT_THROW(estimate_decode({1, 1, 1}, 0.5, {1.0, -1.0}), Error);
}

TEST(HitModel, IsItsOwnInverseAndMonotonic) {
  EXPECT_EQ(expected_hit_ratio(0.0), 0.0);
  EXPECT_EQ(expected_hit_ratio(1.0), 1.0);
  EXPECT_EQ(expected_hit_ratio(7.0), 1.0);
  for (double share = 0.01; share < 1.0; share += 0.01) {
    EXPECT_NEAR(share_for_hit_ratio(expected_hit_ratio(share)), share, 1e-12);
    EXPECT_LT(expected_hit_ratio(share - 0.01), expected_hit_ratio(share));
  }
}

}  // namespace
}  // namespace luce::plan
