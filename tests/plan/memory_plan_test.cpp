#include "plan/memory_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "plan/shapes.hpp"

namespace luce::plan {
namespace {

using testing::HasSubstr;

MemoryRequest request_for(int64_t budget_bytes) {
  MemoryRequest request;
  request.budget_bytes = budget_bytes;
  request.context_tokens = 1024;
  request.sequences = 2;
  request.chunk_rows = 64;
  request.tokenizer_bytes = 30'000;
  request.staging_bytes = 20'000;
  request.overhead_bytes = 100'000;
  return request;
}

int64_t minimum_bytes(const ModelShape& shape) {
  MemoryRequest request = request_for(int64_t{1} << 40);
  request.expert_share = 0.0;
  return plan_memory(shape, request).total_bytes();
}

TEST(MemoryPlan, CountsEveryPart) {
  const ModelShape shape = hybrid_shape(8, 16, 2);
  const MemoryPlan plan = plan_memory(shape, request_for(int64_t{1} << 30));
  EXPECT_EQ(plan.bytes(Part::dense_weights), 8 * 50'000 + 64'000 + 128'000);
  EXPECT_EQ(plan.bytes(Part::kv_cache), 2LL * 2 * 1024 * (64 + 32) * 2);  // sequences, layers, tokens, values, f16
  EXPECT_EQ(plan.bytes(Part::recurrent_state), 2 * 6 * 3'000);
  EXPECT_EQ(plan.bytes(Part::scratch), 10'000 + 64 * 2'000 + 2 * 4'000);
  EXPECT_EQ(plan.bytes(Part::tokenizer), 30'000);
  EXPECT_EQ(plan.bytes(Part::staging), 20'000);
  EXPECT_EQ(plan.bytes(Part::overhead), 100'000);
  EXPECT_EQ(plan.bytes(Part::expert_slots), 16 * (4 * 1'920 + 4 * 2'304));
  EXPECT_EQ(plan.token_cycle_bytes, 2 * (4 * 1'920 + 4 * 2'304));
  EXPECT_EQ(plan.total_slots, 8 * 16);
  EXPECT_DOUBLE_EQ(plan.share_resident, 1.0);
  EXPECT_TRUE(plan.warnings.empty());
}

struct KvCase {
  int layers, full_attention_interval, kv_heads, head_dim;
  int64_t context_tokens, expected_bytes;
};

// The case "kv-size-counts-attention-layers-only".
TEST(MemoryPlan, KvStoreCountsAttentionLayersOnly) {
  for (const KvCase& row : {KvCase{40, 4, 2, 256, 65536, 1342177280}, KvCase{4, 4, 2, 32, 4096, 1048576},
                            KvCase{48, 4, 4, 128, 8192, 201326592}}) {
    ModelShape shape;
    for (int i = 0; i < row.layers; ++i) {
      LayerShape layer;
      if ((i + 1) % row.full_attention_interval == 0)
        layer.k_width = layer.v_width = int64_t{row.kv_heads} * row.head_dim;
      shape.layers.push_back(layer);
    }
    EXPECT_EQ(kv_bytes(shape, tensor::Format::f16, row.context_tokens), row.expected_bytes);
    EXPECT_EQ(kv_bytes(shape, tensor::Format::f32, row.context_tokens), 2 * row.expected_bytes);
    EXPECT_EQ(kv_bytes(shape, tensor::Format::q8_0, row.context_tokens), row.expected_bytes / 64 * 34);
  }
}

TEST(MemoryPlan, RefusesBlockFormatForOddRows) {
  ModelShape shape = hybrid_shape(4, 8, 2);
  shape.layers[3].k_width = 40;
  try {
    kv_bytes(shape, tensor::Format::q8_0, 16);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("multiple of 32"));
  }
}

TEST(MemoryPlan, StaysWithinEveryBudgetAndFillsIt) {
  const ModelShape shape = hybrid_shape(12, 64, 4);
  const int64_t minimum = minimum_bytes(shape);
  const int64_t all = plan_memory(shape, request_for(int64_t{1} << 40)).total_bytes();
  for (int64_t budget = minimum; budget < all + 10'000; budget += 7'001) {
    const MemoryPlan plan = plan_memory(shape, request_for(budget));
    ASSERT_LE(plan.total_bytes(), budget);
    ASSERT_GE(static_cast<double>(plan.total_bytes()), 0.95 * static_cast<double>(std::min(budget, all)));
    ASSERT_GT(plan.total_bytes() + 2'304, std::min(budget, all));
    const auto [low, high] = std::minmax_element(plan.slots.begin(), plan.slots.end());
    ASSERT_GE(*low, 1);
    ASSERT_LE(*high - *low, 2);
  }
}

TEST(MemoryPlan, MinimumIsOneSlotPerLayer) {
  const ModelShape shape = hybrid_shape(8, 16, 2);
  const MemoryPlan plan = plan_memory(shape, request_for(minimum_bytes(shape)));
  EXPECT_EQ(plan.slots, std::vector<int>(8, 1));
  EXPECT_EQ(plan.total_bytes(), plan.budget_bytes);
}

// The case "plan-refuses-before-loading".
TEST(MemoryPlan, RefusesBelowTheMinimumWithAllParts) {
  const ModelShape shape = hybrid_shape(8, 16, 2);
  const int64_t minimum = minimum_bytes(shape);
  try {
    plan_memory(shape, request_for(minimum - 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    for (const char* part : {"dense weights 592000", "KV cache 786432", "recurrent state 36000", "scratch 146000",
                             "tokenizer 30000", "staging 20000", "process overhead 100000", "expert slots 16896",
                             "needs 1.65 MiB", "the budget is 1.65 MiB", "give at least 3 MiB"})
      EXPECT_THAT(error.what(), HasSubstr(part));
    EXPECT_THAT(error.what(), HasSubstr(fmt::format("together {}, budget {})", minimum, minimum - 1)));
    EXPECT_THAT(error.what(), HasSubstr("from 1024 to at most 1023 tokens"));
  }
}

TEST(MemoryPlan, AdviceOnTheContextIsEnough) {
  const ModelShape shape = hybrid_shape(8, 16, 2);
  MemoryRequest request = request_for(minimum_bytes(shape) - 100'000);
  EXPECT_THROW(plan_memory(shape, request), Error);
  request.context_tokens = 1024 - 131;  // 100,000 bytes at 768 bytes a token, rounded up
  EXPECT_NO_THROW(plan_memory(shape, request));
  request.budget_bytes = 1;
  try {
    plan_memory(shape, request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("smaller model"));
  }
}

TEST(MemoryPlan, ExpertsGiveWayAndTheContextStays) {
  const ModelShape shape = hybrid_shape(8, 64, 2);
  MemoryRequest request = request_for(2'000'000);
  const MemoryPlan small = plan_memory(shape, request);
  request.context_tokens = 1100;
  const MemoryPlan large = plan_memory(shape, request);
  EXPECT_EQ(large.bytes(Part::kv_cache), small.bytes(Part::kv_cache) / 1024 * 1100);
  EXPECT_LT(large.total_slots, small.total_slots);
}

TEST(MemoryPlan, HoldsTheShareAskedFor) {
  const ModelShape shape = hybrid_shape(8, 64, 4);
  for (const auto& [share, slots] : std::vector<std::pair<double, int64_t>>{
           {0.0, 8}, {0.001, 8}, {0.1, 51}, {0.25, 128}, {0.3, 154}, {0.6, 307}, {1.0, 512}}) {
    MemoryRequest request = request_for(int64_t{1} << 40);
    request.expert_share = share;
    EXPECT_EQ(plan_memory(shape, request).total_slots, slots) << share;
  }
}

TEST(MemoryPlan, TheTighterLimitHolds) {
  const ModelShape shape = hybrid_shape(8, 64, 4);
  MemoryRequest request = request_for(int64_t{1} << 40);
  request.experts_per_layer = 10;
  EXPECT_EQ(plan_memory(shape, request).slots, std::vector<int>(8, 10));
  request.expert_share = 0.1;
  EXPECT_EQ(plan_memory(shape, request).total_slots, 51);
  request.experts_per_layer = 1000;
  request.expert_share.reset();
  EXPECT_EQ(plan_memory(shape, request).total_slots, 512);
  request.budget_bytes = minimum_bytes(shape) + 50'000;
  const MemoryPlan plan = plan_memory(shape, request);
  EXPECT_LE(plan.total_bytes(), *request.budget_bytes);
  EXPECT_THAT(plan.warnings, testing::Contains(HasSubstr("512 resident experts were asked for")));
}

TEST(MemoryPlan, WarnsOfFewSlots) {
  const ModelShape shape = hybrid_shape(8, 64, 4);
  MemoryRequest request = request_for(int64_t{1} << 40);
  request.experts_per_layer = 3;
  EXPECT_THAT(plan_memory(shape, request).warnings,
              testing::ElementsAre(HasSubstr("less than the 66.00 KiB of experts that one token reads"),
                                   HasSubstr("3.0 resident experts per layer are fewer than three times top-k (4): "
                                             "expect a hit ratio of about 0.29; 0.9 would take about 77 %")));
  request.experts_per_layer = 11;
  EXPECT_THAT(plan_memory(shape, request).warnings, testing::ElementsAre(HasSubstr("11.0 resident experts")));
  request.experts_per_layer = 12;
  EXPECT_TRUE(plan_memory(shape, request).warnings.empty());
}

TEST(MemoryPlan, AllResidentNeverWarns) {
  const ModelShape shape = hybrid_shape(4, 4, 2);  // all is fewer than three times top-k
  EXPECT_TRUE(plan_memory(shape, request_for(int64_t{1} << 40)).warnings.empty());
}

TEST(MemoryPlan, DenseModelsNeedNoSlots) {
  ModelShape shape = hybrid_shape(8, 0, 0);
  for (LayerShape& layer : shape.layers) layer.expert_bytes = 0;
  const MemoryPlan plan = plan_memory(shape, request_for(int64_t{1} << 30));
  EXPECT_EQ(plan.bytes(Part::expert_slots), 0);
  EXPECT_EQ(plan.bytes(Part::staging), 0);
  EXPECT_EQ(plan.slots, std::vector<int>(8, 0));
  EXPECT_DOUBLE_EQ(plan.share_resident, 1.0);
  EXPECT_TRUE(plan.warnings.empty());
}

TEST(MemoryPlan, LeadingDenseLayersGetNoSlots) {
  ModelShape shape = hybrid_shape(4, 16, 2);
  shape.layers[0].experts = 0;
  MemoryRequest request = request_for(int64_t{1} << 30);
  request.expert_share = 0.5;
  EXPECT_EQ(plan_memory(shape, request).slots, (std::vector<int>{0, 8, 8, 8}));
}

TEST(MemoryPlan, AutomaticBudgetLeavesTheReserve) {
  const ModelShape shape = hybrid_shape(8, 16, 2);
  MemoryRequest request = request_for(0);
  request.budget_bytes.reset();
  request.available_bytes = int64_t{1} << 30;
  EXPECT_EQ(plan_memory(shape, request).budget_bytes, (int64_t{1} << 30) - reserve_bytes(int64_t{1} << 30));
  EXPECT_EQ(reserve_bytes(0), int64_t{64} << 20);
  EXPECT_EQ(reserve_bytes(int64_t{20} << 30), int64_t{1} << 30);
  EXPECT_EQ(reserve_bytes(int64_t{1} << 40), int64_t{2} << 30);
}

TEST(MemoryPlan, RefusesNumbersOutOfRange) {
  const ModelShape shape = hybrid_shape(4, 8, 2);
  const auto refused = [&shape](auto change, ErrorKind kind) {
    MemoryRequest request = request_for(int64_t{1} << 40);
    change(request);
    try {
      plan_memory(shape, request);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
    }
  };
  refused([](MemoryRequest& r) { r.context_tokens = 0; }, ErrorKind::usage);
  refused([](MemoryRequest& r) { r.sequences = -1; }, ErrorKind::usage);
  refused([](MemoryRequest& r) { r.expert_share = 1.01; }, ErrorKind::usage);
  refused([](MemoryRequest& r) { r.expert_share = std::nan(""); }, ErrorKind::usage);
  refused([](MemoryRequest& r) { r.experts_per_layer = 0; }, ErrorKind::usage);
  refused([](MemoryRequest& r) { r.budget_bytes = -5; }, ErrorKind::usage);
  refused([](MemoryRequest& r) { r.context_tokens = INT64_MAX; }, ErrorKind::out_of_memory);
  refused([](MemoryRequest& r) { r.context_tokens = r.sequences = 1 << 30; }, ErrorKind::out_of_memory);
}

}  // namespace
}  // namespace luce::plan
