// Cases of tests/golden/cases/concurrency.jsonl that a running server decides, with their numbers and paces.
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <random>
#include <thread>

#include "server/server_fixture.hpp"

namespace luce::server {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

Json long_chat(bool stream) {
  Json body = small_chat("hi", 400);
  body["stream"] = stream;
  body["ignore_eos"] = true;
  return body;
}

std::string chat_text(const Json& body) { return request_text("POST", "/v1/chat/completions", body.dump()); }

/// True as soon as `condition` holds, false if it does not within the time.
bool eventually(const std::function<bool()>& condition, milliseconds limit = milliseconds(2000)) {
  const auto deadline = Clock::now() + limit;
  while (!condition() && Clock::now() < deadline) std::this_thread::sleep_for(milliseconds(5));
  return condition();
}

double cancelled(RunningServer& server) { return server.metric("luce_requests_total{outcome=\"cancelled\"}"); }

void expect_idle(RunningServer& server) {
  EXPECT_TRUE(eventually([&] {
    const engine::EngineStatus status = server.engine().status();
    return status.running == 0 && status.queued == 0;
  }));
  EXPECT_TRUE(eventually([&] { return server.metric("luce_requests_running") == 0; }));
}

class OneSlot : public testing::Test {
 protected:
  static ServerOptions one_slot() {
    ServerOptions options;
    options.slots = 1;
    return options;
  }
  RunningServer server{one_slot()};
};

TEST_F(OneSlot, DisconnectWhileStreaming) {
  read_case("concurrency", "disconnect-while-streaming");
  server.hooks().decode_step_ms = 20;
  {
    TestClient client(server.port());
    client.send(chat_text(long_chat(true)));
    std::string text;
    while (std::count(text.begin(), text.end(), '\n') < 12) text += client.receive(milliseconds(2000));
  }
  const auto begin = Clock::now();
  EXPECT_EQ(server.chat(small_chat("hi", 1)).status, 200);
  EXPECT_LT(Clock::now() - begin, milliseconds(1000));
  EXPECT_EQ(cancelled(server), 1);
  expect_idle(server);
}

TEST_F(OneSlot, DisconnectWithoutStream) {
  read_case("concurrency", "disconnect-without-stream");
  server.hooks().decode_step_ms = 20;
  {
    TestClient client(server.port());
    client.send(chat_text(long_chat(false)));
    EXPECT_TRUE(eventually([&] { return server.engine().status().running == 1; }));
    std::this_thread::sleep_for(milliseconds(500));
  }
  const auto begin = Clock::now();
  EXPECT_EQ(server.chat(small_chat("hi", 1)).status, 200);
  EXPECT_LT(Clock::now() - begin, milliseconds(1000));
  EXPECT_EQ(cancelled(server), 1);
}

TEST(ConcurrencyCases, DisconnectDuringPrefill) {
  read_case("concurrency", "disconnect-during-prefill");
  ServerOptions options;
  options.slots = 1;
  options.n_ctx = 1024;
  RunningServer server(options);
  server.hooks().prompt_step_ms = 200;
  const Json body = {{"prompt", std::vector<int>(640, 7)}, {"stream", true}, {"max_tokens", 4}};
  {
    TestClient client(server.port());
    client.send(request_text("POST", "/v1/completions", body.dump()));
    EXPECT_TRUE(eventually([&] { return server.hooks().prompt_rows > 0; }));
    std::this_thread::sleep_for(milliseconds(500));
  }
  EXPECT_TRUE(eventually([&] { return cancelled(server) == 1; }, milliseconds(600)));
  EXPECT_LT(server.hooks().prompt_rows, 640);
  server.hooks().prompt_step_ms = 0;
  EXPECT_EQ(server.chat(small_chat("hi", 1)).status, 200);
}

TEST_F(OneSlot, DisconnectWhileQueued) {
  read_case("concurrency", "disconnect-while-queued");
  server.hooks().decode_step_ms = 20;
  Json a = long_chat(true);
  a["max_tokens"] = 150;
  TestClient first(server.port());
  first.send(chat_text(a));
  EXPECT_TRUE(eventually([&] { return server.engine().status().running == 1; }));
  const double rows_of_a = static_cast<double>(server.hooks().prompt_rows);
  {
    TestClient queued(server.port());
    queued.send(request_text("POST", "/v1/completions", Json{{"prompt", std::vector<int>(400, 9)}}.dump()));
    EXPECT_TRUE(eventually([&] { return server.engine().status().queued == 1; }));
  }
  EXPECT_TRUE(eventually([&] { return cancelled(server) == 1; }));
  EXPECT_EQ(server.chat(small_chat("hi", 1)).status, 200);
  EXPECT_TRUE(first.read_reply().complete);
  EXPECT_LT(static_cast<double>(server.hooks().prompt_rows), rows_of_a + 400);
}

TEST_F(OneSlot, QueuedDisconnectLeavesRunningAlone) {
  read_case("concurrency", "queued-disconnect-leaves-running-alone");
  Json a = long_chat(true);
  a["max_tokens"] = 40;
  a["temperature"] = 0;
  const HttpReply alone = server.chat(a);
  server.hooks().decode_step_ms = 50;
  TestClient client(server.port());
  client.send(chat_text(a));
  EXPECT_TRUE(eventually([&] { return server.engine().status().running == 1; }));
  {
    TestClient queued(server.port());
    queued.send(chat_text(long_chat(true)));
    EXPECT_TRUE(eventually([&] { return server.engine().status().queued == 1; }));
  }
  const HttpReply reply = client.read_reply();
  EXPECT_EQ(joined(reply) + joined(reply, "reasoning_content"), joined(alone) + joined(alone, "reasoning_content"));
  EXPECT_EQ(reply.frames().back(), "[DONE]");
}

TEST(ConcurrencyCases, NoSlotOversubscription) {
  read_case("concurrency", "no-slot-oversubscription");
  ServerOptions options;
  options.slots = 4;
  const RunningServer server(options);
  std::vector<std::future<HttpReply>> replies;
  for (int i = 0; i < 8; ++i)
    replies.push_back(std::async(std::launch::async, [&server, i] {
      return server.complete({{"prompt", std::vector<int>(60, 5 + i)}, {"max_tokens", 60}, {"ignore_eos", true}});
    }));
  for (auto& each : replies) {
    const HttpReply reply = each.get();
    ASSERT_THAT(reply.status, testing::AnyOf(200, 503));
    if (reply.status == 200) {
      EXPECT_EQ(reply.json()["usage"]["completion_tokens"], 60);
    }
  }
}

TEST(ConcurrencyCases, OverloadGives503) {
  read_case("concurrency", "overload-gives-503");
  ServerOptions options;
  options.slots = 1;
  options.queue = 2;
  RunningServer server(options);
  server.hooks().decode_step_ms = 33;
  Json body = long_chat(false);
  body["max_tokens"] = 60;
  std::vector<std::future<std::pair<HttpReply, double>>> replies;
  for (int i = 0; i < 8; ++i)
    replies.push_back(std::async(std::launch::async, [&server, &body] {
      const auto begin = Clock::now();
      HttpReply reply = server.chat(body);
      return std::pair(std::move(reply), std::chrono::duration<double>(Clock::now() - begin).count());
    }));
  for (int i = 0; i < 40; ++i) {
    for (const char* path : {"/health", "/metrics"}) {
      const auto begin = Clock::now();
      EXPECT_EQ(server.get(path).status, 200);
      EXPECT_LT(Clock::now() - begin, milliseconds(500));
    }
    std::this_thread::sleep_for(milliseconds(100));
  }
  int answered = 0;
  for (auto& each : replies) {
    const auto [reply, seconds] = each.get();
    answered += reply.status == 200 ? 1 : 0;
    if (reply.status == 200) continue;
    EXPECT_EQ(reply.status, 503);
    EXPECT_LT(seconds, 0.5);
    EXPECT_GE(std::stoi(reply.header("retry-after")), 1);
    EXPECT_TRUE(reply.json()["error"]["code"].is_string());
    EXPECT_TRUE(reply.json()["error"]["type"].is_string());
  }
  // One may take the place that another leaves before all have come.
  EXPECT_GE(answered, 3);
  EXPECT_LE(answered, 4);
}

TEST(ConcurrencyCases, InFlightGaugeReturnsToZero) {
  read_case("concurrency", "in-flight-gauge-returns-to-zero");
  RunningServer server;
  server.hooks().decode_step_ms = 5;
  {
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 4; ++i) {
      clients.push_back(std::make_unique<TestClient>(server.port()));
      clients.back()->send(chat_text(long_chat(true)));
    }
    EXPECT_TRUE(eventually([&] { return server.engine().status().running == 2; }));
  }
  expect_idle(server);
  EXPECT_EQ(server.chat(small_chat("hi", 1)).status, 200);
}

TEST(ConcurrencyCases, NoForeignMarkersUnderLoad) {
  read_case("concurrency", "no-foreign-markers-under-load");
  ServerOptions options;
  options.model = "models/qwen35moe-nano-f32.gguf";
  options.slots = 4;
  options.n_ctx = 1024;
  const RunningServer server(options);
  const auto run_client = [&server](unsigned seed) {
    std::mt19937 random(seed);
    std::string marker;
    for (int i = 0; i < 8; ++i) marker += static_cast<char>('a' + random() % 26);
    std::string system;
    for (int i = 0; i < 20; ++i) system += marker + " ";
    std::vector<std::pair<Json, std::string>> seen;
    Json messages;
    for (int round = 0; round < 30; ++round) {
      // Half of the rounds append, a quarter edit the latest question, a quarter begin anew.
      const unsigned kind = round == 0 ? 3 : random() % 4;
      if (kind == 3 || messages.size() > 9) messages = Json::array({{{"role", "system"}, {"content", system}}});
      if (kind == 2)
        for (int i = 0; i < 2 && messages.size() > 1; ++i) messages.erase(messages.size() - 1);
      messages.push_back({{"role", "user"}, {"content", "round " + std::to_string(random() % 1000)}});
      const Json body = {{"messages", messages}, {"temperature", 0}, {"max_tokens", 6}};
      const HttpReply reply = server.chat(body);
      EXPECT_EQ(reply.status, 200) << reply.body;
      const std::string text = all_text(reply.json()["choices"][0]["message"]);
      seen.emplace_back(body, text);
      messages.push_back({{"role", "assistant"}, {"content", text}});
    }
    return seen;
  };
  std::vector<std::future<std::vector<std::pair<Json, std::string>>>> clients;
  for (unsigned i = 0; i < 8; ++i) clients.push_back(std::async(std::launch::async, run_client, i));
  ServerOptions fresh_options = options;
  fresh_options.slots = 1;
  fresh_options.prompt_cache_bytes = 0;
  const RunningServer fresh(fresh_options);
  for (auto& each : clients)
    for (auto [body, text] : each.get()) {
      body["cache_prompt"] = false;
      EXPECT_EQ(all_text(fresh.chat(body).json()["choices"][0]["message"]), text);
    }
}

TEST(ConcurrencyCases, UnloadDoesNotRace) {
  read_case("concurrency", "unload-does-not-race");
  for (int round = 0; round < 20; ++round) {
    RunningServer server;
    std::atomic<bool> stop = false;
    std::vector<std::thread> clients;
    for (int i = 0; i < 8; ++i)
      clients.emplace_back([&server, &stop] {
        while (!stop) EXPECT_THAT(server.chat(small_chat("hi", 1)).status, testing::AnyOf(200, 503, 0));
      });
    std::this_thread::sleep_for(milliseconds(60));
    server.stop();
    stop = true;
    for (std::thread& each : clients) each.join();
  }
}

int open_files() {
  int count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

int threads() {
  int count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

TEST(ConcurrencyCases, ManyShortConnections) {
  read_case("concurrency", "many-short-connections");
  ServerOptions options;
  options.queue = 40;
  const RunningServer server(options);
  server.expect_alive();
  const int files_before = open_files();
  const int threads_before = threads();
  std::vector<std::thread> clients;
  for (int i = 0; i < 32; ++i)
    clients.emplace_back([&server] {
      for (int n = 0; n < 157; ++n) EXPECT_EQ(server.get("/health").status, 200);
      for (int n = 0; n < 16; ++n) EXPECT_EQ(server.chat(small_chat("hi", 1)).status, 200);
    });
  for (std::thread& each : clients) each.join();
  EXPECT_TRUE(eventually([&] { return std::abs(open_files() - files_before) <= 8; }, milliseconds(4000)));
  EXPECT_LE(std::abs(threads() - threads_before), 8);
}

}  // namespace
}  // namespace luce::server
