// A server whose machine runs out of memory, told by files below a root of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <regex>
#include <thread>

#include "support/child_process.hpp"
#include "support/fake_root.hpp"
#include "support/golden_path.hpp"
#include "support/http_client.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_folder.hpp"
#include "synthetic/model_spec.hpp"
#include "synthetic/write_model.hpp"

namespace luce::app_test {
namespace {

using std::chrono::milliseconds;
using support::FakeRoot;
using support::send_request;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kGroup = "/sys/fs/cgroup/pod";
constexpr int64_t kGibibyte = int64_t{1} << 30;

/// A machine of 8 GiB and a control group of version 2 that may use 4 GiB of it.
struct Machine {
  Machine()
      : root({{"/proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 8000000 kB\n"},
              {"/proc/self/cgroup", "0::/pod\n"},
              {"/sys/fs/cgroup/cgroup.controllers", "memory\n"},
              {std::string(kGroup) + "/memory.max", std::to_string(4 * kGibibyte)},
              {std::string(kGroup) + "/memory.current", std::to_string(kGibibyte)}}) {}

  void use(int64_t bytes) const { set("memory.current", std::to_string(bytes)); }
  void set(const std::string& file, const std::string& text) const {
    root.set(std::string(kGroup) + "/" + file, text + "\n");
  }

  FakeRoot root;
};

constexpr const char* kSlots = "luce_expert_slots{tier=\"host\"}";

class GuardedServer {
 public:
  explicit GuardedServer(const Machine& machine, std::vector<std::string> options = {})
      : process_(command(machine, std::move(options))) {
    const std::string mark = "ready: http://127.0.0.1:";
    EXPECT_TRUE(process_.wait_for_error_text(mark, std::chrono::seconds(20))) << process_.error_text();
    const std::string text = process_.error_text();
    port_ = std::stoi(text.substr(text.find(mark) + mark.size()));
    EXPECT_TRUE(comes([this] { return metric(kSlots) > 0; })) << "the figures are set a moment after that line";
  }

  int port() const { return port_; }
  support::ChildProcess& process() { return process_; }
  std::string health() const { return send_request(port_, "GET", "/health").body; }
  support::Json json_health() const { return support::Json::parse(health()); }
  double metric(const std::string& name) const {
    const std::string page = send_request(port_, "GET", "/metrics").body;
    const size_t at = page.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(page.substr(at + name.size() + 2));
  }
  bool comes(const std::function<bool()>& holds) const {
    for (int i = 0; i < 200; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(milliseconds(50));
    }
    return false;
  }
  std::string state(const std::string& name) const { return "luce_state{name=\"" + name + "\",state=\"degraded\"}"; }
  support::HttpReply complete(int tokens) const {
    return send_request(port_, "POST", "/v1/completions",
                        R"({"prompt":"Once upon a time","temperature":0,"ignore_eos":true,"max_tokens":)" +
                            std::to_string(tokens) + "}");
  }

 private:
  static std::vector<std::string> command(const Machine& machine, std::vector<std::string> options) {
    std::vector<std::string> words = {support::luce_spark(), "serve", "--port",        "0",
                                      "--metrics-port",      "0",     "--system-root", machine.root.path()};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }

  support::ChildProcess process_;
  int port_ = 0;
};

/// The whole body if it is no answer.
std::string text_of(const support::HttpReply& reply) {
  return reply.status == 200 ? reply.json()["choices"][0]["text"].get<std::string>() : reply.body;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(MemoryGuard, TheAutomaticBudgetIsTheGroupsAndLeavesItsReserve) {
  const Machine machine;
  machine.use(3 * kGibibyte);
  GuardedServer server(machine);
  EXPECT_THAT(server.process().error_text(), HasSubstr("64.00 MiB stay free"));
  EXPECT_EQ(server.metric("luce_memory_available_bytes"), static_cast<double>(kGibibyte));
  EXPECT_THAT(server.health(), Not(HasSubstr("degraded")));
  EXPECT_EQ(server.metric(kSlots), 384);
}

TEST(MemoryGuard, AShortGroupTakesSlotsAndRefusesNewRequestsUntilThereIsRoom) {
  const Machine machine;
  GuardedServer server(machine);
  EXPECT_EQ(server.complete(2).status, 200);
  machine.use(4 * kGibibyte - (1 << 20));
  ASSERT_TRUE(server.comes([&] { return server.metric(server.state("memory")) == 1; })) << server.health();
  EXPECT_THAT(server.health(), AllOf(HasSubstr("1.00 MiB are left"), HasSubstr("memory.max"), HasSubstr("expert-slots"),
                                     HasSubstr("\"status\":\"ok\"")));
  EXPECT_LT(server.metric(kSlots), 100);
  EXPECT_EQ(server.metric("luce_gpu_cache_expert_count{device=\"cpu\"}"), server.metric(kSlots));
  std::this_thread::sleep_for(milliseconds(3300));  // new requests wait at first
  const support::HttpReply refused = server.complete(2);
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.header("retry-after"), "");
  EXPECT_THAT(refused.body, AllOf(HasSubstr("memory is short"), HasSubstr("overloaded"), Not(HasSubstr("memory.max"))));
  machine.use(kGibibyte);
  ASSERT_TRUE(server.comes([&] { return server.metric(server.state("memory")) == 0; }));
  EXPECT_EQ(server.complete(2).status, 200);
  EXPECT_THAT(server.health(), HasSubstr("slots come back slowly"));
  server.process().send(SIGTERM);
  const std::string log = server.process().wait(std::chrono::seconds(8)).err;
  EXPECT_EQ(count(log, "degraded (memory): memory is short"), 1);
  EXPECT_EQ(count(log, "no longer degraded (memory): it lasted"), 1);
}

TEST(MemoryGuard, ARequestThatComesWhileMemoryIsShortWaitsAMoment) {
  const Machine machine;
  GuardedServer server(machine);
  machine.use(4 * kGibibyte);
  ASSERT_TRUE(server.comes([&] { return server.metric(server.state("memory")) == 1; }));
  const auto begin = std::chrono::steady_clock::now();
  std::thread relief([&] {
    std::this_thread::sleep_for(milliseconds(700));
    machine.use(kGibibyte);
  });
  EXPECT_EQ(server.complete(2).status, 200);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, milliseconds(400));
  relief.join();
}

TEST(MemoryGuard, SwapInUseIsNamed) {
  const Machine machine;
  GuardedServer server(machine);
  machine.set("memory.swap.current", std::to_string(64 << 20));
  ASSERT_TRUE(server.comes([&] { return server.metric(server.state("swap")) == 1; })) << server.health();
  EXPECT_EQ(server.metric("luce_swap_used_bytes"), 64 << 20);
  EXPECT_LT(server.metric(kSlots), 384);
  EXPECT_THAT(server.health(), HasSubstr("swap is in use"));
  machine.set("memory.swap.current", "0");
  EXPECT_TRUE(server.comes([&] { return server.metric(server.state("swap")) == 0; }));
}

TEST(MemoryGuard, PressureIsNamed) {
  const Machine machine;
  GuardedServer server(machine);
  machine.set("memory.pressure", "some avg10=60.00 avg60=9.0 avg300=1.0 total=9\nfull avg10=30.00 avg60=9.0 total=9");
  ASSERT_TRUE(server.comes([&] { return server.metric(server.state("memory-pressure")) == 1; })) << server.health();
  EXPECT_TRUE(server.comes([&] { return server.metric("luce_memory_stalled_ratio") == 0.3; }));
  EXPECT_TRUE(server.comes([&] { return server.metric(kSlots) < 384; }));
  EXPECT_GT(server.metric(kSlots), 192) << "pressure alone takes little at a time";
  EXPECT_THAT(server.health(), HasSubstr("memory.pressure"));
}

TEST(MemoryGuard, AnswersAreTheSameWhileSlotsGo) {
  const Machine machine;
  GuardedServer server(machine, {"--expert-share", "50%", "--threads", "1", "--parallel", "24"});
  constexpr int kTokens = 900 / support::kSlowness;  // of 24 requests: longer than the seconds between looks
  const support::HttpReply alone = server.complete(kTokens);
  ASSERT_EQ(alone.status, 200) << alone.body;
  const double before = server.metric(kSlots);
  std::vector<support::HttpReply> replies(24);
  std::atomic<size_t> ended = 0;
  std::vector<std::thread> clients;
  for (support::HttpReply& reply : replies)
    clients.emplace_back([&] {
      reply = server.complete(kTokens);
      ++ended;
    });
  const auto running = [&] { return server.json_health()["requests"]["running"].get<int>(); };
  server.comes([&] { return running() >= 12; });
  double least_while_running = before;
  for (int64_t mebibytes = 15; ended < replies.size(); mebibytes = std::max<int64_t>(0, mebibytes - 1)) {
    machine.use(4 * kGibibyte - (mebibytes << 20));
    const double slots = server.metric(kSlots);
    if (running() > 0) least_while_running = std::min(least_while_running, slots);
    std::this_thread::sleep_for(milliseconds(50));
  }
  for (std::thread& each : clients) each.join();
  EXPECT_LT(least_while_running, before) << "the answers ended before any slot went";
  // Who came when memory was short already may have been refused.
  int answered = 0;
  for (const support::HttpReply& reply : replies) {
    if (reply.status == 503) continue;
    ++answered;
    EXPECT_EQ(text_of(reply), text_of(alone));
  }
  EXPECT_GE(answered, 12);
  machine.use(kGibibyte);
  ASSERT_TRUE(server.comes([&] { return server.metric(server.state("memory")) == 0; }));
  EXPECT_EQ(text_of(server.complete(kTokens)), text_of(alone));
}

int64_t anonymous_bytes(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    if (word != "RssAnon:") continue;
    int64_t kib = 0;
    status >> kib;
    return kib * 1024;
  }
  return 0;
}

TEST(MemoryGuard, SlotsReallyGiveTheirMemoryBack) {
  const support::TemporaryFolder folder;
  synthetic::ModelSpec spec = synthetic::preset("nano");
  spec.arch = "qwen3moe";
  spec.hidden = 256;
  spec.expert_ffn = 256;
  spec.experts = 64;
  spec.layers = 4;
  synthetic::write_model(spec, folder.path("m.gguf"));  // 192 MiB of experts
  const Machine machine;
  GuardedServer server(machine, {"--model", folder.path("m.gguf"), "--ctx-size", "256"});
  ASSERT_EQ(server.metric(kSlots), 256);
  const int64_t before = anonymous_bytes(server.process().pid());
  const double slot_bytes_before = server.metric("luce_expert_slot_bytes{tier=\"host\"}");
  EXPECT_GT(slot_bytes_before, 180 << 20);
  machine.use(4 * kGibibyte - (1 << 20));
  ASSERT_TRUE(server.comes([&] { return server.metric(kSlots) < 100; }));
  const double freed = slot_bytes_before - server.metric("luce_expert_slot_bytes{tier=\"host\"}");
  EXPECT_GT(freed, 100 << 20);
  const double gone = static_cast<double>(before - anonymous_bytes(server.process().pid()));
  EXPECT_GT(gone, 0.9 * freed);
}

}  // namespace
}  // namespace luce::app_test
