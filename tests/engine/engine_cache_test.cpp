// Conversations that resume: the output is that of a fresh engine, whatever was reused.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "engine/engine.hpp"
#include "engine/engine_fixture.hpp"

namespace luce::engine {
namespace {

Outcome run(Engine& engine, Request request) {
  RequestHandle handle = accepted(engine.submit(std::move(request)));
  return read_all(handle);
}

void append(std::vector<int32_t>& to, const std::vector<int32_t>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

TEST(EngineCache, AppendOnlyTurnsComputeTheNewTokensOnly) {
  for (const bool recurrent : {false, true}) {
    FakeModel model(kOneSlot, recurrent);
    Engine engine(model, {});
    std::vector<int32_t> chat = random_tokens(70, 1);
    for (uint32_t turn = 0; turn < 8; ++turn) {
      const Outcome outcome = run(engine, greedy(chat, 8));
      EXPECT_EQ(outcome.tokens, fresh_tokens(greedy(chat, 8), recurrent));
      const int cached = outcome.finished->stats.cached_tokens;
      EXPECT_GE(cached, turn == 0 ? 0 : static_cast<int>(chat.size()) - 31);
      EXPECT_LE(cached, turn == 0 ? 0 : static_cast<int>(chat.size()) - 30);
      append(chat, outcome.tokens);
      append(chat, random_tokens(30, 100 + turn));
    }
  }
}

// A template drops the reasoning of earlier turns: the next prompt parts from the last one at its turn end.
TEST(EngineCache, PromptsThatPartAtATurnEndResumeThere) {
  FakeModel model(kOneSlot, true);
  Engine engine(model, {});
  std::vector<int32_t> chat = random_tokens(90, 1);
  for (uint32_t turn = 0; turn < 5; ++turn) {
    Request request = greedy(chat, 8);
    request.turn_ends = {static_cast<int>(chat.size()) - 5};
    const Outcome outcome = run(engine, std::move(request));
    EXPECT_EQ(outcome.finished->stats.cached_tokens, turn == 0 ? 0 : static_cast<int>(chat.size()) - 45);
    chat.resize(chat.size() - 5);
    append(chat, random_tokens(45, turn));
  }
}

TEST(EngineCache, WithoutRoomForStatesNothingIsReusedAcrossAnEdit) {
  FakeModel model(kOneSlot, true);
  Engine engine(model, {.prompt_cache_bytes = 0});
  const std::vector<int32_t> a = random_tokens(300, 1);
  std::vector<int32_t> b(a.begin(), a.begin() + 100);
  append(b, random_tokens(50, 2));
  run(engine, greedy(a, 16));
  const Outcome outcome = run(engine, greedy(b, 16));
  EXPECT_EQ(outcome.finished->stats.cached_tokens, 0);
  EXPECT_EQ(outcome.tokens, fresh_tokens(greedy(b, 16), true));
}

TEST(EngineCache, CanBeSwitchedOffForARequest) {
  for (const bool recurrent : {false, true}) {
    FakeModel model(kOneSlot, recurrent);
    Engine engine(model, {});
    const std::vector<int32_t> prompt = random_tokens(200, 1);
    std::vector<int> cached;
    for (const bool use : {true, true, false, true, true}) {
      Request request = greedy(prompt, 4);
      request.use_prompt_cache = use;
      cached.push_back(run(engine, std::move(request)).finished->stats.cached_tokens);
    }
    EXPECT_EQ(cached[0], 0);
    EXPECT_GT(cached[1], 0);
    EXPECT_EQ(cached[2], 0);
    EXPECT_EQ(cached[3], 0) << "the request before kept nothing";
    EXPECT_GT(cached[4], 0);
  }
}

TEST(EngineCache, CancelledPromptsLeaveWhatTheyComputed) {
  FakeModel model({.context_tokens = 512, .sequences = 1, .rows = 65, .logit_rows = 1}, true);
  Engine engine(model, {.prompt_rows = 64});
  const std::vector<int32_t> prompt = random_tokens(400, 1);
  std::atomic<bool> ready = false;
  int steps = 0;
  std::optional<RequestHandle> cancelled;
  model.before_step = [&](const model::Batch&) {
    while (!ready) std::this_thread::sleep_for(1ms);
    if (++steps == 4) cancelled->cancel();
  };
  cancelled.emplace(accepted(engine.submit(greedy(prompt, 4))));
  ready = true;
  EXPECT_TRUE(read_all(*cancelled).failed);
  const Outcome outcome = run(engine, greedy(prompt, 4));
  EXPECT_EQ(outcome.finished->stats.cached_tokens, 256);
  EXPECT_EQ(outcome.tokens, fresh_tokens(greedy(prompt, 4), true));
}

// Random conversations that append, edit, cut or start anew, over few slots and few bytes.
TEST(EngineCache, RandomConversationsEqualFreshOnes) {
  for (const bool recurrent : {false, true}) {
    FakeModel model({.context_tokens = 512, .sequences = 2, .rows = 260, .logit_rows = 2}, recurrent, 84);
    Engine engine(model, {.prompt_cache_bytes = 700});
    std::mt19937 random(7);
    std::vector<std::vector<int32_t>> chats(3);
    int reused = 0;
    for (uint32_t round = 0; round < 150; ++round) {
      std::vector<int32_t>& chat = chats[random() % chats.size()];
      const uint32_t what = random() % 8;
      if (what == 0 || chat.size() > 420) chat.clear();
      if (what == 1 && !chat.empty()) chat[random() % chat.size()] ^= 1;
      if (what == 2 && !chat.empty()) chat.resize(random() % chat.size());
      append(chat, random_tokens(1 + static_cast<int>(random() % 60), round));
      Request request = greedy(chat, 6);
      if (random() % 2) request.turn_ends = {static_cast<int>(random() % chat.size())};
      const Outcome outcome = run(engine, std::move(request));
      ASSERT_EQ(outcome.tokens, fresh_tokens(greedy(chat, 6), recurrent)) << round;
      ASSERT_LT(outcome.finished->stats.cached_tokens, static_cast<int>(chat.size()));
      ASSERT_LE(engine.status().cached_state_bytes, 700u);
      reused += outcome.finished->stats.cached_tokens;
      append(chat, outcome.tokens);
    }
    EXPECT_GT(reused, 5000);
  }
}

}  // namespace
}  // namespace luce::engine
