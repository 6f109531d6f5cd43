// Lasting trouble of the expert cache is named in /health, as a metric and once in the log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "app/condition_board.hpp"
#include "app/hit_window.hpp"
#include "support/child_process.hpp"
#include "support/http_client.hpp"

namespace luce::app {
namespace {

using testing::HasSubstr;

TEST(ConditionBoard, ShowsWhatIsThereAndItsLatestReason) {
  telemetry::Registry registry;
  ConditionBoard board(registry);
  board.declare("swap");
  EXPECT_TRUE(board.conditions().empty());
  EXPECT_THAT(registry.render(), HasSubstr("luce_state{name=\"swap\",state=\"degraded\"} 0"));
  board.report("swap", "20 MiB are in it");
  board.report("swap", "30 MiB are in it");
  ASSERT_EQ(board.conditions().size(), 1U);
  EXPECT_EQ(board.conditions()[0].name, "swap");
  EXPECT_EQ(board.conditions()[0].state, "degraded");
  EXPECT_EQ(board.conditions()[0].reason, "30 MiB are in it");
  EXPECT_THAT(registry.render(), HasSubstr("luce_state{name=\"swap\",state=\"degraded\"} 1"));
  board.report("swap", std::nullopt);
  EXPECT_TRUE(board.conditions().empty());
}

TEST(HitWindow, ForgetsWhatIsOlderThanTheWindow) {
  HitWindow window(100);
  EXPECT_EQ(hit_ratio(window.advance(0, {0, 0})), 0);
  for (uint64_t tokens = 10; tokens <= 200; tokens += 10) window.advance(tokens, {0, tokens});
  EXPECT_EQ(hit_ratio(window.advance(250, {50, 200})), 0.5);
  EXPECT_EQ(hit_ratio(window.advance(310, {110, 200})), 1.0);
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(TroubleWatch, NamesLowHitsAndNarrowTraffic) {
  support::ChildProcess process({support::luce_spark(), "serve", "--port", "0", "--metrics-port", "0", "--expert-share",
                                 "3%", "--warmup-tokens", "300", "--stats-window", "800"});
  const std::string mark = "ready: http://127.0.0.1:";
  ASSERT_TRUE(process.wait_for_error_text(mark, std::chrono::seconds(20))) << process.error_text();
  const std::string log = process.error_text();
  const int port = std::stoi(log.substr(log.find(mark) + mark.size()));
  EXPECT_THAT(support::send_request(port, "GET", "/metrics").body,
              HasSubstr("luce_state{name=\"hit-ratio\",state=\"degraded\"} 0"));
  // The same words again and again.
  for (int i = 0; i < 4; ++i)
    support::send_request(port, "POST", "/v1/completions",
                          R"({"prompt":"easy to use, and easy to use, and","max_tokens":400,"temperature":0,)"
                          R"("ignore_eos":true})");
  for (const char* name : {"hit-ratio", "narrow-topic", "hot-expert"}) {
    EXPECT_TRUE(process.wait_for_error_text("degraded (" + std::string(name) + ")", std::chrono::seconds(10)))
        << process.error_text();
    EXPECT_THAT(support::send_request(port, "GET", "/health").body, HasSubstr(name));
    EXPECT_THAT(support::send_request(port, "GET", "/metrics").body,
                HasSubstr("luce_state{name=\"" + std::string(name) + "\",state=\"degraded\"} 1"));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  process.send(SIGTERM);
  const std::string all = process.wait(std::chrono::seconds(8)).err;
  for (const char* name : {"degraded (hit-ratio)", "degraded (narrow-topic)", "degraded (hot-expert)"})
    EXPECT_EQ(count(all, name), 1) << name;
}

}  // namespace
}  // namespace luce::app
