// While memory is short, requests that run go on and new ones wait or are refused.
#include <gtest/gtest.h>

#include "engine/engine_fixture.hpp"

namespace luce::engine {
namespace {

TEST(EngineHold, NewRequestsWaitAndRunningOnesGoOn) {
  FakeModel model(kLimits, false);
  std::atomic<bool> go = false;
  model.before_step = [&](const model::Batch&) {
    while (!go) std::this_thread::sleep_for(1ms);
  };
  Engine engine(model, {});
  RequestHandle running = accepted(engine.submit(greedy(random_tokens(5, 1), 20)));
  while (engine.status().running == 0) std::this_thread::sleep_for(1ms);
  engine.hold(Hold{"memory is short"});
  go = true;
  RequestHandle waiting = accepted(engine.submit(greedy(random_tokens(5, 2), 3)));
  EXPECT_TRUE(read_all(running).finished);
  EXPECT_FALSE(waiting.next_event(150ms).has_value());
  EXPECT_EQ(engine.status().queued, 1);
  engine.hold(std::nullopt);
  EXPECT_TRUE(read_all(waiting).finished);
}

TEST(EngineHold, RefusesWithTheReasonWhenToldSo) {
  FakeModel model(kLimits, false);
  Engine engine(model, {});
  engine.hold(Hold{"swap is in use", true});
  const SubmitResult result = engine.submit(greedy({1, 2}, 1));
  ASSERT_TRUE(std::holds_alternative<Held>(result));
  EXPECT_EQ(std::get<Held>(result).why, "swap is in use");
  engine.hold(std::nullopt);
  RequestHandle handle = accepted(engine.submit(greedy({1, 2}, 1)));
  EXPECT_TRUE(read_all(handle).finished);
}

TEST(EngineHold, WhoWaitsTooLongHearsWhy) {
  FakeModel model(kLimits, false);
  Engine engine(model, {.patience = std::chrono::milliseconds(100)});
  engine.hold(Hold{"memory is short"});
  RequestHandle handle = accepted(engine.submit(greedy({1, 2}, 1)));
  EXPECT_FALSE(handle.next_event(250ms).has_value()) << "as long as new ones may wait, so may this one";
  engine.hold(Hold{"memory is short", true});
  const Outcome outcome = read_all(handle);
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->kind, ErrorKind::overloaded);
  EXPECT_EQ(outcome.failed->message, "memory is short");
}

TEST(EngineHold, WhoWaitsCanBeCancelled) {
  FakeModel model(kLimits, false);
  Engine engine(model, {});
  engine.hold(Hold{"memory is short"});
  RequestHandle handle = accepted(engine.submit(greedy({1, 2}, 1)));
  handle.cancel();
  const Outcome outcome = read_all(handle);
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->kind, ErrorKind::cancelled);
}

TEST(EngineHold, StoppingDoesNotWaitForMemory) {
  FakeModel model(kLimits, false);
  Engine engine(model, {});
  engine.hold(Hold{"memory is short"});
  RequestHandle handle = accepted(engine.submit(greedy({1, 2}, 1)));
  EXPECT_TRUE(engine.drain(20s));
  EXPECT_TRUE(read_all(handle).finished);
  engine.stop();
}

}  // namespace
}  // namespace luce::engine
