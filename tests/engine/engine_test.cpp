#include "engine/engine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "engine/engine_fixture.hpp"

namespace luce::engine {
namespace {

TEST(Engine, GivesTokensThenOneEnd) {
  FakeModel model(kLimits, false);
  Engine engine(model, {});
  RequestHandle handle = accepted(engine.submit(greedy(random_tokens(100, 1), 10)));
  const Outcome outcome = read_all(handle);
  ASSERT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.tokens.size(), 10u);
  EXPECT_EQ(outcome.finished->reason, FinishReason::length);
  EXPECT_EQ(outcome.finished->stats.prompt_tokens, 100);
  EXPECT_EQ(outcome.finished->stats.generated_tokens, 10);
  EXPECT_EQ(outcome.finished->stats.cached_tokens, 0);
  EXPECT_GT(outcome.finished->stats.first_token_seconds, 0);
}

TEST(Engine, BatchedEqualsAlone) {
  for (const bool recurrent : {false, true}) {
    FakeModel model(kLimits, recurrent);
    Engine engine(model, {.prompt_rows = 128});
    std::vector<Request> requests;
    std::vector<RequestHandle> handles;
    for (uint32_t i = 0; i < 12; ++i) {
      const Request request = greedy(random_tokens(1 + 37 * static_cast<int>(i), i), 20);
      requests.push_back(greedy(request.tokens, 20));
      handles.push_back(accepted(engine.submit(greedy(request.tokens, 20))));
    }
    for (size_t i = 0; i < handles.size(); ++i)
      EXPECT_EQ(read_all(handles[i]).tokens, fresh_tokens(requests[i], recurrent)) << i;
  }
}

TEST(Engine, ContextEndsAReplyWithLength) {
  struct Row {
    int prompt, max_tokens, expected;
  };
  FakeModel model(kOneSlot, false);
  Engine engine(model, {});
  for (const Row& row : {Row{510, 8, 2}, Row{511, 8, 1}, Row{40, 100'000, 472}, Row{40, -1, 472}, Row{40, 0, 0}}) {
    RequestHandle handle = accepted(engine.submit(greedy(random_tokens(row.prompt, 3), row.max_tokens)));
    const Outcome outcome = read_all(handle);
    ASSERT_TRUE(outcome.finished);
    EXPECT_EQ(outcome.finished->reason, FinishReason::length);
    EXPECT_EQ(static_cast<int>(outcome.tokens.size()), row.expected);
  }
  for (const int prompt : {512, 513, 5000}) {
    const SubmitResult result = engine.submit(greedy(random_tokens(prompt, 3), 8));
    ASSERT_TRUE(std::holds_alternative<ContextOverflow>(result));
    EXPECT_EQ(std::get<ContextOverflow>(result).prompt_tokens, prompt);
    EXPECT_EQ(std::get<ContextOverflow>(result).context_tokens, 512);
  }
}

TEST(Engine, EndTokensEndAndIgnoreEosBansThem) {
  FakeModel model(kOneSlot, false);
  Engine engine(model, {});
  const std::vector<int32_t> prompt = random_tokens(30, 4);
  const std::vector<int32_t> free = fresh_tokens(greedy(prompt, 10), false);
  Request request = greedy(prompt, 10);
  request.end_tokens = {free[3]};
  RequestHandle handle = accepted(engine.submit(std::move(request)));
  const Outcome ended = read_all(handle);
  EXPECT_EQ(ended.finished->reason, FinishReason::end_token);
  EXPECT_EQ(ended.tokens, std::vector<int32_t>(free.begin(), free.begin() + 3));
  EXPECT_EQ(ended.finished->stats.generated_tokens, 3);
  request = greedy(prompt, 10);
  request.end_tokens = {free[3]};
  request.ignore_eos = true;
  handle = accepted(engine.submit(std::move(request)));
  const Outcome ignored = read_all(handle);
  EXPECT_EQ(ignored.finished->reason, FinishReason::length);
  EXPECT_EQ(ignored.tokens.size(), 10u);
  EXPECT_EQ(std::count(ignored.tokens.begin(), ignored.tokens.end(), free[3]), 0);
}

TEST(Engine, RefusesWhatCannotBeARequest) {
  FakeModel model(kOneSlot, false);
  Engine engine(model, {});
  for (const std::vector<int32_t>& tokens : {std::vector<int32_t>{}, {-1}, {FakeModel::kVocabulary}}) {
    try {
      engine.submit(greedy(tokens, 1));
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_request);
      EXPECT_EQ(error.param(), "prompt");
    }
  }
}

TEST(Engine, RefusesStepsThatCannotServeItsSequences) {
  FakeModel model({.context_tokens = 64, .sequences = 4, .rows = 4, .logit_rows = 4}, false);
  EXPECT_THROW(Engine(model, {}), Error);
  FakeModel good(kLimits, false);
  EXPECT_THROW(Engine(good, {.prompt_rows = 100}), Error);
}

TEST(Engine, FullQueueIsAReturnValue) {
  FakeModel model(kOneSlot, false);
  std::atomic<bool> go = false;
  model.before_step = [&](const model::Batch&) {
    while (!go) std::this_thread::sleep_for(1ms);
  };
  Engine engine(model, {.queue_capacity = 2});
  std::vector<RequestHandle> handles;
  for (uint32_t i = 0; i < 3; ++i) handles.push_back(accepted(engine.submit(greedy(random_tokens(5, i), 3))));
  EXPECT_TRUE(std::holds_alternative<QueueFull>(engine.submit(greedy({1}, 1))));
  EXPECT_TRUE(std::holds_alternative<QueueFull>(engine.submit(greedy({1}, 1))));
  go = true;
  for (RequestHandle& handle : handles) EXPECT_TRUE(read_all(handle).finished);
  for (int i = 0; i < 300; ++i) {
    std::vector<RequestHandle> burst;
    for (uint32_t k = 0; k < 3; ++k) burst.push_back(accepted(engine.submit(greedy({1, 2}, 1))));
    for (RequestHandle& handle : burst) read_all(handle);
  }
}

TEST(Engine, ALongPromptDoesNotStopDecoding) {
  FakeModel model({.context_tokens = 4096, .sequences = 2, .rows = 600, .logit_rows = 2}, false);
  std::atomic<bool> go = false;
  model.before_step = [&](const model::Batch&) {
    while (!go) std::this_thread::sleep_for(1ms);
  };
  Engine engine(model, {});
  RequestHandle decoding = accepted(engine.submit(greedy(random_tokens(10, 1), 200)));
  RequestHandle prompt = accepted(engine.submit(greedy(random_tokens(4000, 2), 5)));
  go = true;
  read_all(decoding);
  read_all(prompt);
  for (const model::Batch& batch : model.batches()) {
    int prompt_rows = 0, decode_rows = 0;
    for (const model::SequenceSpan& span : batch.spans)
      (span.row_class == device::RowClass::prompt ? prompt_rows : decode_rows) += span.rows;
    EXPECT_LE(prompt_rows, decode_rows > 0 ? 64 : 512);
  }
}

TEST(Engine, SamplingSettingsReachTheSampler) {
  FakeModel model(kOneSlot, false);
  Engine engine(model, {});
  const auto run = [&](uint64_t seed) {
    Request request = greedy(random_tokens(20, 9), 32);
    request.sampling = {.temperature = 1.5f, .seed = seed, .logprobs = true, .top_logprobs = 3};
    RequestHandle handle = accepted(engine.submit(std::move(request)));
    return read_all(handle);
  };
  EXPECT_EQ(run(1).tokens, run(1).tokens);
  EXPECT_NE(run(1).tokens, run(2).tokens);
  for (const Token& token : run(3).events) {
    ASSERT_EQ(token.top.size(), 3u);
    EXPECT_LE(token.logprob, token.top[0].logprob);
  }
}

TEST(Engine, ExpertCountsAreSharedByRows) {
  FakeModel model(kLimits, false);
  ExpertTotals totals;
  std::atomic<bool> go = false;
  model.before_step = [&](const model::Batch& batch) {
    while (!go) std::this_thread::sleep_for(1ms);
    totals.hits += 6 * static_cast<uint64_t>(batch.rows());
    totals.misses += 2 * static_cast<uint64_t>(batch.rows());
    totals.stall_seconds += 0.001 * batch.rows();
  };
  Engine engine(model, {.expert_totals = [&] { return totals; }});
  std::vector<RequestHandle> handles;
  for (uint32_t i = 0; i < 4; ++i) handles.push_back(accepted(engine.submit(greedy(random_tokens(10, i), 11))));
  go = true;
  for (RequestHandle& handle : handles) {
    const RequestStats stats = read_all(handle).finished->stats;
    EXPECT_NEAR(stats.experts.hits, 6 * 20, 1e-6) << "10 prompt rows and 10 decoded ones";
    EXPECT_NEAR(stats.experts.misses, 2 * 20, 1e-6);
    EXPECT_NEAR(stats.experts.stall_ms, 20, 1e-6);
  }
}

}  // namespace
}  // namespace luce::engine
