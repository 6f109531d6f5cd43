// How requests end other than by themselves: cancelled, stopped, late, failed, or with the engine.
#include <gtest/gtest.h>

#include <atomic>

#include "engine/engine.hpp"
#include "engine/engine_fixture.hpp"

namespace luce::engine {
namespace {

/// Lets the test hold the step thread.
class Gate {
 public:
  explicit Gate(FakeModel& model) {
    model.before_step = [this](const model::Batch&) {
      ++waiting_;
      while (closed_) std::this_thread::sleep_for(1ms);
      --waiting_;
    };
  }
  ~Gate() { open(); }
  void close() { closed_ = true; }
  void open() { closed_ = false; }
  void wait_for_step() {
    while (waiting_ == 0) std::this_thread::sleep_for(1ms);
  }

 private:
  std::atomic<bool> closed_ = true;
  std::atomic<int> waiting_ = 0;
};

TEST(EngineEnd, CancelledWhileRunningFreesTheSlotAtTheNextStep) {
  FakeModel model(kOneSlot, false);
  model.before_step = [](const model::Batch&) { std::this_thread::sleep_for(2ms); };
  Engine engine(model, {});
  RequestHandle first = accepted(engine.submit(greedy({1}, -1)));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(first.next_event(5s));
  first.cancel();
  const Outcome outcome = read_all(first);
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->kind, ErrorKind::cancelled);
  EXPECT_LE(outcome.tokens.size(), 3u);
  EXPECT_EQ(engine.status().running, 0);
  RequestHandle second = accepted(engine.submit(greedy({2}, 1)));
  EXPECT_TRUE(read_all(second).finished);
}

TEST(EngineEnd, CancelledDuringItsPromptComputesNoMoreOfIt) {
  FakeModel model({.context_tokens = 1024, .sequences = 1, .rows = 65, .logit_rows = 1}, false);
  Gate gate(model);
  Engine engine(model, {.prompt_rows = 64});
  RequestHandle handle = accepted(engine.submit(greedy(random_tokens(640, 1), 4)));
  gate.wait_for_step();
  handle.cancel();
  gate.open();
  EXPECT_TRUE(read_all(handle).failed);
  EXPECT_EQ(model.prompt_rows(), 64);
}

TEST(EngineEnd, CancelledWhileQueuedIsNeverComputed) {
  FakeModel model(kOneSlot, false);
  Gate gate(model);
  Engine engine(model, {});
  RequestHandle running = accepted(engine.submit(greedy(random_tokens(7, 1), 3)));
  gate.wait_for_step();
  RequestHandle queued = accepted(engine.submit(greedy(random_tokens(50, 2), 3)));
  RequestHandle after = accepted(engine.submit(greedy(random_tokens(9, 3), 3)));
  queued.cancel();
  gate.open();
  const Outcome outcome = read_all(queued);
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->kind, ErrorKind::cancelled);
  EXPECT_EQ(read_all(running).tokens, fresh_tokens(greedy(random_tokens(7, 1), 3), false));
  EXPECT_TRUE(read_all(after).finished);
  EXPECT_EQ(model.prompt_rows(), 16);
}

TEST(EngineEnd, AbandonedHandleCancels) {
  FakeModel model(kOneSlot, false);
  Engine engine(model, {});
  { RequestHandle handle = accepted(engine.submit(greedy({1}, -1))); }
  EXPECT_TRUE(engine.drain(5s));
}

TEST(EngineEnd, StopIsAFinishNotAFailure) {
  FakeModel model(kOneSlot, false);
  Engine engine(model, {});
  RequestHandle handle = accepted(engine.submit(greedy({1}, -1)));
  handle.next_event(5s);
  handle.stop();
  handle.cancel();
  const Outcome outcome = read_all(handle);
  ASSERT_TRUE(outcome.finished) << "the first wish holds";
  EXPECT_TRUE(outcome.finished->reason == FinishReason::stopped || outcome.finished->reason == FinishReason::length);
}

TEST(EngineEnd, DeadlineEndsQueuedAndRunning) {
  FakeModel model(kOneSlot, false);
  model.before_step = [](const model::Batch&) { std::this_thread::sleep_for(2ms); };
  Engine engine(model, {});
  std::vector<RequestHandle> handles;
  for (int i = 0; i < 2; ++i) {
    Request request = greedy({1}, -1);
    request.deadline = Clock::now() + 50ms;
    handles.push_back(accepted(engine.submit(std::move(request))));
  }
  for (RequestHandle& handle : handles) {
    const Outcome outcome = read_all(handle);
    ASSERT_TRUE(outcome.failed);
    EXPECT_NE(outcome.failed->message.find("deadline"), std::string::npos);
  }
}

TEST(EngineEnd, AFailedStepFailsItsRequestsOnly) {
  FakeModel model(kOneSlot, true);
  std::atomic<int> steps = 0;
  model.before_step = [&](const model::Batch&) {
    if (++steps == 4) fail(ErrorKind::io, "expert file: cannot read");
  };
  Engine engine(model, {});
  RequestHandle broken = accepted(engine.submit(greedy(random_tokens(20, 1), 10)));
  RequestHandle next = accepted(engine.submit(greedy(random_tokens(20, 1), 10)));
  const Outcome outcome = read_all(broken);
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->kind, ErrorKind::io);
  EXPECT_EQ(outcome.failed->message, "expert file: cannot read");
  EXPECT_EQ(outcome.tokens.size(), 3u);
  const Outcome after = read_all(next);
  EXPECT_EQ(after.tokens, fresh_tokens(greedy(random_tokens(20, 1), 10), true));
  EXPECT_EQ(after.finished->stats.cached_tokens, 0) << "nothing of a failed step is reused";
}

TEST(EngineEnd, ForeignExceptionsAreInternalErrors) {
  FakeModel model(kOneSlot, false);
  model.before_step = [](const model::Batch&) { throw std::runtime_error("surprise"); };
  Engine engine(model, {});
  RequestHandle handle = accepted(engine.submit(greedy({1}, 1)));
  const Outcome outcome = read_all(handle);
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->kind, ErrorKind::internal);
}

TEST(EngineEnd, NanLogitsFailTheRequest) {
  FakeModel model(kOneSlot, false);
  Engine engine(model, {});
  model.give_nan = true;
  RequestHandle handle = accepted(engine.submit(greedy({1}, 5)));
  const Outcome outcome = read_all(handle);
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->kind, ErrorKind::internal);
  EXPECT_TRUE(outcome.tokens.empty());
  model.give_nan = false;
  handle = accepted(engine.submit(greedy({1}, 5)));
  EXPECT_TRUE(read_all(handle).finished);
}

class ThrowingConstraint : public sampling::TokenConstraint {
 public:
  bool allows(int32_t) override { throw std::runtime_error("constraint broke"); }
  void mask(std::span<float>) override {}
  void accept(int32_t) override {}
};

TEST(EngineEnd, AFailingConstraintEndsItsRequestOnly) {
  FakeModel model(kLimits, false);
  Engine engine(model, {});
  Request request = greedy({1}, 5);
  request.constraint = std::make_unique<ThrowingConstraint>();
  RequestHandle bad = accepted(engine.submit(std::move(request)));
  RequestHandle good = accepted(engine.submit(greedy({2}, 50)));
  EXPECT_EQ(read_all(bad).failed->message, "constraint broke");
  EXPECT_EQ(read_all(good).tokens.size(), 50u);
}

TEST(EngineEnd, DrainLetsRequestsFinish) {
  FakeModel model(kOneSlot, false);
  Engine engine(model, {});
  std::vector<RequestHandle> handles;
  for (int i = 0; i < 5; ++i) handles.push_back(accepted(engine.submit(greedy({1}, 20))));
  EXPECT_TRUE(engine.drain(10s));
  EXPECT_TRUE(std::holds_alternative<Stopping>(engine.submit(greedy({1}, 1))));
  for (RequestHandle& handle : handles) EXPECT_TRUE(read_all(handle).finished);
}

TEST(EngineEnd, DrainGivesUpInTime) {
  FakeModel model(kOneSlot, false);
  Gate gate(model);
  Engine engine(model, {});
  RequestHandle handle = accepted(engine.submit(greedy({1}, 20)));
  EXPECT_FALSE(engine.drain(20ms));
  gate.open();
}

TEST(EngineEnd, StopEndsEverythingAfterTheStepThatRuns) {
  FakeModel model(kOneSlot, false);
  model.before_step = [](const model::Batch&) { std::this_thread::sleep_for(5ms); };
  Engine engine(model, {});
  std::vector<RequestHandle> handles;
  for (int i = 0; i < 5; ++i) handles.push_back(accepted(engine.submit(greedy({1}, -1))));
  handles[0].next_event(5s);
  const Clock::time_point start = Clock::now();
  engine.stop();
  EXPECT_LT(Clock::now() - start, 1s);
  for (RequestHandle& handle : handles) EXPECT_EQ(read_all(handle).failed->kind, ErrorKind::cancelled);
  EXPECT_TRUE(std::holds_alternative<Stopping>(engine.submit(greedy({1}, 1))));
}

// Many submitters with random cancels, stops, reads and abandoned handles: every request ends exactly once.
TEST(EngineEnd, EveryRequestEndsOnce) {
  FakeModel model(kLimits, true);
  Engine engine(model, {.queue_capacity = 3, .prompt_rows = 64, .prompt_cache_bytes = 4096});
  std::atomic<int> ended = 0, refused = 0, abandoned = 0;
  std::vector<std::thread> clients;
  for (uint32_t client = 0; client < 8; ++client) {
    clients.emplace_back([&, client] {
      std::mt19937 random(client);
      for (int i = 0; i < 60; ++i) {
        const int prompt = 1 + static_cast<int>(random() % 200);
        SubmitResult result =
            engine.submit(greedy(random_tokens(prompt, static_cast<uint32_t>(i % 5)), static_cast<int>(random() % 12)));
        if (!std::holds_alternative<RequestHandle>(result)) {
          ++refused;
          std::this_thread::sleep_for(1ms);
          continue;
        }
        RequestHandle handle = std::get<RequestHandle>(std::move(result));
        switch (random() % 4) {
          case 0: handle.cancel(); break;
          case 1: handle.stop(); break;
          case 2: ++abandoned; continue;
          default: break;
        }
        const Outcome outcome = read_all(handle);
        ended += outcome.finished.has_value() + outcome.failed.has_value();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(ended + refused + abandoned, 8 * 60);
  EXPECT_TRUE(engine.drain(10s));
  EXPECT_EQ(engine.status().running, 0);
  EXPECT_EQ(engine.status().queued, 0);
}

}  // namespace
}  // namespace luce::engine
