#include "experts/use_log.hpp"

#include <gtest/gtest.h>

#include <random>

#include "experts/hot_score.hpp"
#include "experts/routing_rows.hpp"

namespace luce::experts {
namespace {

// A policy that is told late, and asked now and then, says what one says that is told at once.
TEST(UseLog, ThePolicySaysTheSameAsIfItWereToldAtOnce) {
  HotScore at_once(32, {});
  UseLog late(std::make_unique<HotScore>(32, HotScoreSettings{}));
  RoutingDigest digest(32);
  std::mt19937 random(5);
  for (int step = 0; step < 2000; ++step) {
    std::vector<std::vector<int32_t>> rows(random() % 40 == 0 ? 30 : 1 + random() % 3);
    for (auto& row : rows) {
      const auto first = static_cast<int32_t>(random() % 8);
      row = {first, 8 + first, static_cast<int32_t>(16 + random() % 16)};
    }
    const RoutingRows routing(0, rows, random() % 4 == 0 ? device::RowClass::prompt : device::RowClass::decode);
    const LayerUse use = digest.digest(routing.view(), 32);
    at_once.record(use);
    late.add(use);
    if (random() % 7 != 0) continue;
    const LayerPolicy& asked = late.up_to_date();
    for (int32_t expert = 0; expert < 32; ++expert)
      ASSERT_EQ(asked.keep_value(expert), at_once.keep_value(expert)) << "step " << step << " expert " << expert;
  }
}

}  // namespace
}  // namespace luce::experts
