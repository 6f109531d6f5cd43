#include "plan/slot_split.hpp"

#include <gtest/gtest.h>

#include <random>

namespace luce::plan {
namespace {

LayerShape layer(int experts, int64_t expert_bytes) {
  LayerShape shape;
  shape.experts = experts;
  shape.expert_bytes = expert_bytes;
  return shape;
}

constexpr int64_t kAny = int64_t{1} << 40;

TEST(SlotSplit, EqualLayersShareEqually) {
  const std::vector<LayerShape> layers(3, layer(8, 10));
  EXPECT_EQ(split_slots(layers, {kAny, kAny}), (std::vector<int>{8, 8, 8}));
  EXPECT_EQ(split_slots(layers, {120, kAny}), (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(split_slots(layers, {139, kAny}), (std::vector<int>{5, 4, 4}));
  EXPECT_EQ(split_slots(layers, {kAny, 14}), (std::vector<int>{5, 5, 4}));
}

TEST(SlotSplit, TheFloorHoldsWhateverTheLimits) {
  const std::vector<LayerShape> layers = {layer(8, 10), layer(0, 0), layer(4, 20)};
  EXPECT_EQ(split_slots(layers, {0, 0}), (std::vector<int>{1, 0, 1}));
}

TEST(SlotSplit, LayersWithMoreExpertsGetMoreSlots) {
  const std::vector<LayerShape> layers = {layer(64, 10), layer(16, 10)};
  EXPECT_EQ(split_slots(layers, {400, kAny}), (std::vector<int>{32, 8}));
}

TEST(SlotSplit, SmallSlotsFillWhatLargeOnesLeave) {
  const std::vector<LayerShape> layers = {layer(8, 100), layer(8, 30)};
  EXPECT_EQ(split_slots(layers, {350, kAny}), (std::vector<int>{2, 5}));
}

TEST(SlotSplit, RandomShapesKeepTheRules) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<LayerShape> layers;
    int64_t all = 0, floor = 0;
    for (int i = 0; i < 12; ++i) {
      layers.push_back(layer(static_cast<int>(random() % 40), static_cast<int64_t>(64 * (1 + random() % 5))));
      all += layers.back().experts * layers.back().expert_bytes;
      floor += layers.back().experts > 0 ? layers.back().expert_bytes : 0;
    }
    const int64_t budget = floor + static_cast<int64_t>(random() % (1 + static_cast<uint64_t>(all - floor)));
    const std::vector<int> slots = split_slots(layers, {budget, kAny});
    int64_t used = 0;
    for (size_t i = 0; i < layers.size(); ++i) {
      ASSERT_LE(slots[i], layers[i].experts);
      ASSERT_GE(slots[i], layers[i].experts > 0 ? 1 : 0);
      used += slots[i] * layers[i].expert_bytes;
    }
    ASSERT_LE(used, budget);
    for (size_t i = 0; i < layers.size(); ++i) {  // nothing more fits
      ASSERT_TRUE(slots[i] == layers[i].experts || used + layers[i].expert_bytes > budget);
    }
  }
}

}  // namespace
}  // namespace luce::plan
