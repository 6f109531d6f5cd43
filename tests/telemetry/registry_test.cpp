#include "telemetry/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <thread>

namespace luce::telemetry {
namespace {

using testing::HasSubstr;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

TEST(Registry, RendersCountersAndGauges) {
  Registry registry;
  const auto hits = registry.counter({"luce_hits_total", "Experts found resident.", {{"tier", "host"}}});
  hits.add();
  hits.add(2.5);
  registry.gauge({"luce_queue_length", "Requests waiting."}).set(-3);
  EXPECT_THAT(lines(registry.render()),
              testing::ElementsAre("# HELP luce_hits_total Experts found resident.", "# TYPE luce_hits_total counter",
                                   "luce_hits_total{tier=\"host\"} 3.5", "# HELP luce_queue_length Requests waiting.",
                                   "# TYPE luce_queue_length gauge", "luce_queue_length -3"));
}

TEST(Registry, SameNameAndLabelsAreOneCell) {
  Registry registry;
  registry.counter({"a_total", "A.", {{"x", "1"}, {"y", "2"}}}).add(1);
  const auto again = registry.counter({"a_total", "Ignored.", {{"y", "2"}, {"x", "1"}}});
  registry.counter({"a_total", "A.", {{"x", "2"}, {"y", "2"}}}).add(10);
  EXPECT_EQ(again.value(), 1);
  EXPECT_EQ(lines(registry.render()).size(), 4U);
}

TEST(Registry, CountersNeverShrink) {
  Registry registry;
  const auto counter = registry.counter({"a_total", "A."});
  counter.add(2);
  counter.add(-1);
  counter.add(std::nan(""));
  EXPECT_EQ(counter.value(), 2);
}

TEST(Registry, LargeByteCountsKeepEveryDigit) {
  Registry registry;
  registry.counter({"bytes_total", "B."}).add(9007199254740991.0);
  EXPECT_THAT(registry.render(), testing::AnyOf(HasSubstr("9007199254740991\n"), HasSubstr("9.007199254740991e+15\n"),
                                                HasSubstr("9.007199254740991e+015\n")));
}

TEST(Registry, EscapesLabelValues) {
  Registry registry;
  registry.gauge({"a", "A.", {{"tag", "say \"hi\"\\\n"}}}).set(1);
  EXPECT_THAT(registry.render(), HasSubstr(R"(a{tag="say \"hi\"\\\n"} 1)"));
}

TEST(Registry, HistogramsAreCumulative) {
  Registry registry;
  const auto latency = registry.histogram({"luce_inference_latency_ms", "Per token.", {{"device", "cpu"}}}, {1, 10});
  for (const double value : {0.5, 1.0, 2.0, 50.0, std::nan("")}) latency.observe(value);
  const auto text = registry.render();
  EXPECT_THAT(text, HasSubstr("# TYPE luce_inference_latency_ms histogram"));
  EXPECT_THAT(text, HasSubstr("luce_inference_latency_ms_count{device=\"cpu\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("luce_inference_latency_ms_sum{device=\"cpu\"} 53.5\n"));
  EXPECT_THAT(text, HasSubstr("luce_inference_latency_ms_bucket{device=\"cpu\",le=\"1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("luce_inference_latency_ms_bucket{device=\"cpu\",le=\"10\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("luce_inference_latency_ms_bucket{device=\"cpu\",le=\"+Inf\"} 4\n"));
  EXPECT_EQ(latency.count(), 4U);
  EXPECT_EQ(latency.quantile(0.5), 1);
  EXPECT_EQ(latency.quantile(0.75), 10);
  EXPECT_EQ(latency.quantile(1), std::numeric_limits<double>::infinity());
}

TEST(Registry, UpdatesRunBeforeEachRender) {
  Registry registry;
  int calls = 0;
  registry.before_render([&] { registry.gauge({"calls", "C."}).set(++calls); });
  EXPECT_THAT(registry.render(), HasSubstr("calls 1\n"));
  EXPECT_THAT(registry.render(), HasSubstr("calls 2\n"));
}

TEST(Registry, HandlesWithoutRegistryDoNothing) {
  Counter().add(1);
  Gauge().set(1);
  Histogram().observe(1);
  EXPECT_EQ(Counter().value(), 0);
  EXPECT_EQ(Histogram().count(), 0U);
  EXPECT_EQ(Histogram().quantile(0.5), 0);
}

TEST(Registry, ThreadsLoseNothingWhileItRenders) {
  constexpr int kThreads = 4;
  constexpr int kAdds = 5000;
  Registry registry;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const auto shared = registry.counter({"shared_total", "S."});
      const auto own = registry.counter({"own_total", "O.", {{"thread", std::to_string(t)}}});
      const auto values = registry.histogram({"values", "V."}, exponential_bounds(1, 2, 4));
      for (int i = 0; i < kAdds; ++i) {
        shared.add();
        own.add();
        values.observe(i % 20);
      }
    });
  for (int i = 0; i < 20; ++i) EXPECT_THAT(registry.render(), testing::Not(HasSubstr("nan")));
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(registry.counter({"shared_total", "S."}).value(), kThreads * kAdds);
  EXPECT_EQ(registry.histogram({"values", "V."}, {}).count(), uint64_t{kThreads} * kAdds);
}

TEST(RegistryDeathTest, OneNameHasOneKind) {
  Registry registry;
  registry.counter({"a", "A."});
  EXPECT_DEATH(registry.gauge({"a", "A."}), "two kinds");
  EXPECT_DEATH(registry.counter({"a b", "A."}), "bad metric name");
  EXPECT_DEATH(registry.counter({"a", "A.", {{"le", "1"}}}), "bad label name");
}

TEST(ExponentialBounds, Grow) { EXPECT_EQ(exponential_bounds(1, 2, 4), (std::vector<double>{1, 2, 4, 8})); }

}  // namespace
}  // namespace luce::telemetry
