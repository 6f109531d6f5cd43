#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "engine/engine_fixture.hpp"

namespace luce::engine {
namespace {

using ::testing::HasSubstr;

TEST(EngineMetrics, TellWhatHappened) {
  telemetry::Registry registry;
  FakeModel model(kOneSlot, false);
  std::atomic<bool> go = false;
  model.before_step = [&](const model::Batch&) {
    while (!go) std::this_thread::sleep_for(1ms);
  };
  Engine engine(model, {.queue_capacity = 1, .registry = &registry});
  RequestHandle first = accepted(engine.submit(greedy(random_tokens(100, 1), 5)));
  RequestHandle second = accepted(engine.submit(greedy(random_tokens(50, 2), 5)));
  while (engine.status().running == 0) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(std::holds_alternative<QueueFull>(engine.submit(greedy({1}, 1))));
  EXPECT_THAT(registry.render(), HasSubstr("luce_queue_length 1\n"));
  EXPECT_THAT(registry.render(), HasSubstr("luce_requests_running 1\n"));
  second.cancel();
  go = true;
  read_all(first);
  read_all(second);
  RequestHandle again = accepted(engine.submit(greedy(random_tokens(100, 1), 5)));
  read_all(again);
  const std::string text = registry.render();
  for (const char* line :
       {"luce_queue_length 0\n", "luce_requests_running 0\n", "luce_prompt_tokens_total 101\n",
        "luce_prompt_cached_tokens_total 99\n", "luce_generated_tokens_total 10\n",
        "luce_requests_total{outcome=\"length\"} 2\n", "luce_requests_total{outcome=\"cancelled\"} 1\n",
        "luce_requests_total{outcome=\"queue_full\"} 1\n", "luce_inference_latency_ms_count 8\n",
        "luce_time_to_first_token_ms_count 2\n", "luce_inference_latency_ms_bucket{"})
    EXPECT_THAT(text, HasSubstr(line));
}

}  // namespace
}  // namespace luce::engine
