#include "engine/prompt_cache.hpp"

#include <gtest/gtest.h>

#include "engine/fake_model.hpp"
#include "engine/scheduler.hpp"

namespace luce::engine {
namespace {

TEST(ResumePosition, RollsBackToACheckpointExactly) {
  const std::vector<int> snapshots = {0, 128, 256, 384};
  const int commons[] = {0, 1, 127, 128, 129, 255, 256, 399, 400};
  const int expected[] = {0, 0, 0, 128, 128, 128, 256, 384, 400};
  for (size_t i = 0; i < std::size(commons); ++i)
    EXPECT_EQ(resume_position(true, 400, snapshots, commons[i]), expected[i]) << commons[i];
  for (const int common : commons) EXPECT_EQ(resume_position(false, 400, {}, common), common);
  EXPECT_EQ(resume_position(true, 400, {}, 399), 0);
}

std::vector<int32_t> numbers(int from, int to) {
  std::vector<int32_t> tokens;
  for (int i = from; i < to; ++i) tokens.push_back(i % FakeModel::kVocabulary);
  return tokens;
}

Request request(std::vector<int32_t> tokens, std::string session = {}) {
  Request wanted;
  wanted.tokens = std::move(tokens);
  wanted.session_id = std::move(session);
  return wanted;
}

class PromptCacheTest : public ::testing::Test {
 protected:
  void fill(int slot, const Request& wanted) {
    cache_.open(slot, wanted);
    cache_.advance(slot, wanted.tokens);
  }
  int choose(const Request& wanted) { return cache_.choose(wanted, std::vector<int>{0, 1, 2}); }

  FakeModel model_{{.context_tokens = 2048, .sequences = 3, .rows = 512, .logit_rows = 3}, false};
  PromptCache cache_{model_, 1 << 20};
};

TEST_F(PromptCacheTest, ChoosesTheSlotThatSavesMost) {
  fill(0, request(numbers(0, 500)));
  fill(1, request(numbers(100, 300)));
  EXPECT_EQ(choose(request(numbers(0, 600))), 0);
  EXPECT_EQ(choose(request(numbers(100, 350))), 1);
  EXPECT_EQ(choose(request(numbers(200, 250))), 2) << "nothing to reuse: the empty one";
  EXPECT_EQ(choose(request(numbers(0, 20))), 2) << "a short common start is not worth a long conversation";
}

TEST_F(PromptCacheTest, TheOldestGivesWay) {
  for (const int slot : {1, 0, 2}) fill(slot, request(numbers(slot * 50, slot * 50 + 100)));
  EXPECT_EQ(choose(request(numbers(250, 290))), 1);
}

TEST_F(PromptCacheTest, ASessionComesBackToItsSlot) {
  fill(0, request(numbers(0, 100), "a"));
  fill(1, request(numbers(0, 100), "b"));
  EXPECT_EQ(choose(request(numbers(0, 150), "b")), 1);
  EXPECT_EQ(choose(request(numbers(0, 150), "a")), 0);
  EXPECT_EQ(choose(request(numbers(50, 60), "b")), 1) << "even with another text";
}

TEST_F(PromptCacheTest, NeverServesAWholePrompt) {
  fill(0, request(numbers(0, 100)));
  EXPECT_EQ(cache_.open(0, request(numbers(0, 100))), 99);
  Request without = request(numbers(0, 100));
  without.use_prompt_cache = false;
  EXPECT_EQ(cache_.open(0, without), 0);
}

TEST(PromptCacheBorders, SnapshotsFallOnTurnEndsAndTheGrid) {
  FakeModel model({.context_tokens = 20'000, .sequences = 1, .rows = 512, .logit_rows = 1}, true);
  const PromptCache cache(model, 1 << 20);
  Request wanted = request(numbers(0, 1000));
  wanted.turn_ends = {100, 700, 990};
  std::vector<int> borders;
  for (int at = 0; at < 1000;) borders.push_back(at = cache.next_border(wanted, at));
  EXPECT_EQ(borders, (std::vector<int>{100, 512, 700, 960, 990, 1000}));
  const Request long_one = request(numbers(0, 16'000));
  int count = 0;
  for (int at = 0; at < 16'000; ++count) {
    at = cache.next_border(long_one, at);
    EXPECT_TRUE(at % kChunkGrid == 0);
  }
  EXPECT_LE(count, 10);
}

}  // namespace
}  // namespace luce::engine
