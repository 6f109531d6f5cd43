// luce-spark serve as a process: start, signals in every phase, ports, keys, what its log holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/child_process.hpp"
#include "support/golden_path.hpp"
#include "support/http_client.hpp"
#include "support/temporary_folder.hpp"

namespace luce::app_test {
namespace {

using support::ChildProcess;
using support::ProcessResult;
using support::send_request;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::vector<std::string> serve_command(std::vector<std::string> options = {}) {
  std::vector<std::string> command = {support::luce_spark(), "serve", "--port", "0", "--metrics-port", "0"};
  command.insert(command.end(), options.begin(), options.end());
  return command;
}

/// The port that the log names.
int port_of(const ChildProcess& process) {
  EXPECT_TRUE(process.wait_for_error_text("ready: http://127.0.0.1:", std::chrono::seconds(20)))
      << process.error_text();
  const std::string text = process.error_text();
  const std::string mark = "ready: http://127.0.0.1:";
  return std::stoi(text.substr(text.find(mark) + mark.size()));
}

ProcessResult stop(ChildProcess& process, int signal = SIGTERM) {
  process.send(signal);
  return process.wait(std::chrono::seconds(8));
}

const std::string kSmallChat = R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":2})";

TEST(Serve, AnswersAndEndsOnBothSignals) {
  for (const int signal : {SIGTERM, SIGINT}) {
    ChildProcess process(serve_command());
    const int port = port_of(process);
    EXPECT_EQ(send_request(port, "GET", "/health").json()["status"], "ok");
    EXPECT_EQ(send_request(port, "POST", "/v1/chat/completions", kSmallChat).json()["model"], "demo-q4_k_m");
    const auto begin = Clock::now();
    const ProcessResult result = stop(process, signal);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(3));
    EXPECT_EQ(result.out, "");
  }
}

TEST(Serve, EndsInEveryPhaseOfItsStart) {
  for (const int delay_ms : {30, 40, 50, 60, 80, 100, 150}) {
    ChildProcess process(serve_command());
    std::this_thread::sleep_for(milliseconds(delay_ms));
    const ProcessResult result = stop(process);
    // Before main() has begun the system ends the process itself.
    EXPECT_TRUE(result.exit_code == 0 || (result.signal == SIGTERM && result.err.empty())) << delay_ms << result.err;
  }
}

TEST(Serve, EndsWhileRequestsRun) {
  ChildProcess process(serve_command({"--drain-timeout", "0.2"}));
  const int port = port_of(process);
  std::vector<std::unique_ptr<support::TestClient>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<support::TestClient>(port));
    clients.back()->send(support::request_text(
        "POST", "/v1/chat/completions",
        R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":900,"ignore_eos":true,"stream":true})"));
  }
  clients[0]->receive(milliseconds(2000));
  const auto begin = Clock::now();
  EXPECT_EQ(stop(process).exit_code, 0);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(3));
}

// Case "port-in-use-fails-fast".
TEST(Serve, AUsedPortIsFoundBeforeTheModelIsRead) {
  ChildProcess first(serve_command());
  const std::string port = std::to_string(port_of(first));
  ChildProcess second({support::luce_spark(), "serve", "--port", port, "--metrics-port", "0"});
  const ProcessResult result = second.wait(std::chrono::seconds(5));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr(port), HasSubstr("in use"), Not(HasSubstr("memory:"))));
}

// Case "empty-key-is-not-open".
TEST(Serve, EmptyKeysAreSaidAloud) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--api-key", ""}, {"--api-key", "   "}}) {
    ChildProcess process(serve_command(options));
    EXPECT_EQ(send_request(port_of(process), "GET", "/v1/models").status, 200);
    EXPECT_THAT(stop(process).err, HasSubstr("no key is in force"));
  }
  ChildProcess outside(serve_command({"--api-key", "", "--host", "0.0.0.0"}));
  EXPECT_EQ(outside.wait(std::chrono::seconds(5)).exit_code, 2);
}

TEST(Serve, OpenToTheNetworkWithoutAKeyIsWarnedOf) {
  ChildProcess process(serve_command({"--host", "0.0.0.0"}));
  EXPECT_TRUE(process.wait_for_error_text("ready", std::chrono::seconds(20)));
  EXPECT_THAT(stop(process).err, HasSubstr("no key is set"));
}

TEST(Serve, StartLinesTellWhatIsUsed) {
  ChildProcess process(serve_command({"--expert-share", "50%", "--gpu-memory", "14GiB", "--hot-bias", "0.05"}));
  port_of(process);
  EXPECT_THAT(stop(process).err,
              AllOf(HasSubstr("no --model is given, so the demo model answers"), HasSubstr("device: CPU"),
                    HasSubstr("memory: "), HasSubstr("192 of 384 resident"), HasSubstr("tokens/s"),
                    HasSubstr("context: 1024 tokens"), HasSubstr("--gpu-memory is inactive: no GPU"),
                    HasSubstr("--hot-bias is active")));
}

// Case model-path-special-characters.
TEST(Serve, PathsMayHoldAnyCharacters) {
  const support::TemporaryFolder folder;
  for (const char* name : {"dir with spaces/my model.gguf", "Привет/模型/m.gguf", "smörgås/🦙.gguf",
                           "quote'and\"double.gguf", "-starts-with-dash.gguf"}) {
    const std::filesystem::path path = folder.path(name);
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::copy_file(support::golden_path("models/qwen3moe-nano-f32.gguf"), path);
    std::string quoted;
    for (const char c : path.string()) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    const std::string yaml = folder.write("luce.yaml", std::string_view("model: '" + quoted + "'\n"));
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{"--model", path.string()}, {"--config", yaml}}) {
      ChildProcess process(serve_command(options));
      EXPECT_EQ(send_request(port_of(process), "POST", "/v1/chat/completions", kSmallChat).status, 200) << name;
      EXPECT_THAT(stop(process).err, HasSubstr(path.string()));
    }
  }
}

TEST(Serve, LogsNeitherKeysNorTexts) {
  for (const char* level : {"debug", "info", "warning", "error"}) {
    ChildProcess process(
        serve_command({"--api-key", "sekret-canary-1", "--log-level", level, "--log-interval", "0.05"}));
    if (std::string(level) == "warning" || std::string(level) == "error") {
      // Nothing tells the port at these levels; that nothing is told is what is tested.
      std::this_thread::sleep_for(milliseconds(300));
    } else {
      const int port = port_of(process);
      const support::HeaderList key = {{"Authorization", "Bearer sekret-canary-1"}};
      EXPECT_EQ(
          send_request(
              port, "POST", "/v1/chat/completions",
              R"({"messages":[{"role":"user","content":"prompt-canary-2"}],"user":"user-canary-3","max_tokens":4})",
              key)
              .status,
          200);
      EXPECT_EQ(send_request(port, "POST", "/v1/chat/completions", "{\"messages\": prompt-canary-2", key).status, 400);
      EXPECT_EQ(send_request(port, "GET", "/v1/models", "", {{"x-api-key", "wrong-canary-4"}}).status, 401);
      std::this_thread::sleep_for(milliseconds(150));
    }
    EXPECT_THAT(stop(process).err, Not(HasSubstr("canary"))) << level;
  }
}

TEST(Serve, MetricsAreThereUnderTheirFixedNames) {
  ChildProcess process(serve_command());
  const int port = port_of(process);
  EXPECT_EQ(send_request(port, "POST", "/v1/chat/completions", kSmallChat).status, 200);
  const std::string page = send_request(port, "GET", "/metrics").body;
  for (const char* name :
       {"luce_gpu_memory_used_bytes{device=\"cpu\"} ", "luce_gpu_cache_expert_count{", "luce_gpu_cache_hit_ratio{",
        "luce_router_expert_usage{expert_id=\"0\"} ", "luce_ram_usage_bytes ", "luce_inference_latency_ms_bucket{",
        "luce_time_to_first_token_ms_bucket{"})
    EXPECT_THAT(page, HasSubstr(name));
}

}  // namespace
}  // namespace luce::app_test
