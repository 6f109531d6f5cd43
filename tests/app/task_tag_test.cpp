// Requests that name their task start with its experts: the demo model, a real server, traffic of two tasks in turn.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <regex>

#include "support/child_process.hpp"
#include "support/golden_path.hpp"
#include "support/http_client.hpp"

namespace luce::app_test {
namespace {

using support::ChildProcess;
using support::Json;
using support::send_request;

constexpr int kRounds = 8;
constexpr int kTaught = 2;  // rounds that are not counted
constexpr int kPromptTokens = 16;

std::vector<int> validation_ids(const std::string& domain) {
  std::ifstream file(support::golden_path("demo/validation-" + domain + ".txt"));
  return {std::istream_iterator<int>(file), {}};
}

class TaggedServer {
 public:
  TaggedServer()
      : process_({support::luce_spark(), "serve", "--port", "0", "--metrics-port", "0", "--model",
                  support::source_path("models/demo-q4_k_m.gguf"), "--expert-share", "25%", "--parallel", "1"}) {
    const std::string mark = "ready: http://127.0.0.1:";
    EXPECT_TRUE(process_.wait_for_error_text("cache is warm", std::chrono::seconds(20))) << process_.error_text();
    const std::string text = process_.error_text();
    port_ = std::stoi(text.substr(text.find(mark) + mark.size()));
  }

  double metric(const std::string& series) const {
    const std::string text = send_request(port_, "GET", "/metrics").body;
    std::smatch found;
    EXPECT_TRUE(std::regex_search(text, found, std::regex("(^|\n)" + series + " ([0-9.e+]+)"))) << series;
    return std::stod(found[2]);
  }
  double hits() const { return metric(R"(luce_expert_hits_total\{phase="decode"\})"); }
  double misses() const { return metric(R"(luce_expert_misses_total\{phase="decode"\})"); }

  void generate(const std::vector<int>& prompt, int tokens, const std::string& tag) const {
    Json body = {{"prompt", prompt}, {"max_tokens", tokens}, {"temperature", 0}, {"ignore_eos", true}};
    if (!tag.empty()) body["metadata"] = {{"task_tag", tag}};
    EXPECT_EQ(send_request(port_, "POST", "/v1/completions", body.dump()).status, 200);
  }

 private:
  ChildProcess process_;
  int port_ = 0;
};

/// Hit ratio over the first 32 tokens of requests in German and in C by turns.
double first_hits(const TaggedServer& server, bool tags) {
  double hits = 0, misses = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (const std::string domain : {"de", "C"}) {
      const std::vector<int> ids = validation_ids(domain);
      const auto at = static_cast<std::ptrdiff_t>(ids.size() / kRounds) * round;
      const std::vector<int> prompt(ids.begin() + at, ids.begin() + at + kPromptTokens);
      const double hits_before = server.hits(), misses_before = server.misses();
      server.generate(prompt, 32, tags ? domain : "");
      if (round >= kTaught) hits += server.hits() - hits_before, misses += server.misses() - misses_before;
      server.generate(prompt, 96, tags ? domain : "");
    }
  }
  return hits / (hits + misses);
}

TEST(TaskTag, AlternatingTasksHitMoreOverTheFirstTokensThanUntagged) {
  const TaggedServer tagged, plain;
  const double with = first_hits(tagged, true), without = first_hits(plain, false);
  EXPECT_GT(with, without + 0.01);
  EXPECT_EQ(tagged.metric(R"(luce_router_labels\{kind="task_tag"\})"), 2);
  EXPECT_GT(tagged.metric("luce_router_warm_starts_total"), 2 * kRounds);
  EXPECT_GT(tagged.metric("luce_expert_fetched_ahead_total"), 10);
  EXPECT_EQ(plain.metric(R"(luce_router_labels\{kind="task_tag"\})"), 0);
  EXPECT_EQ(plain.metric("luce_expert_fetched_ahead_total"), 0);
}

}  // namespace
}  // namespace luce::app_test
