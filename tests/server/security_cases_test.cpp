// Cases of tests/golden/cases/security.jsonl that a running server decides.
#include <chrono>
#include <set>
#include <thread>

#include "server/server_fixture.hpp"

namespace luce::server {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

TEST(SecurityCases, ForeignHostHeaderRefused) {
  const Json given = read_case("security", "foreign-host-header-refused")["given"];
  const RunningServer server;
  for (const std::string host : given["hosts_refused"]) {
    for (const HttpReply& reply : {server.get("/v1/models", {{"Host", host}}),
                                   server.post("/v1/chat/completions", small_chat(), {{"Host", host}})}) {
      EXPECT_EQ(reply.status, 403) << host;
      EXPECT_TRUE(reply.json()["error"]["message"].is_string());
    }
  }
  for (const std::string host : given["hosts_allowed"]) {
    EXPECT_EQ(server.get("/v1/models", {{"Host", host}}).status, 200) << host;
    EXPECT_EQ(server.post("/v1/chat/completions", small_chat("hi", 1), {{"Host", host}}).status, 200) << host;
  }
}

TEST(SecurityCases, DefaultNoCors) {
  const Json given = read_case("security", "default-no-cors")["given"];
  const RunningServer server;
  for (const std::string origin : given["origins"]) {
    const bool local = origin.find("localhost") != std::string::npos || origin.find("127.0.0.1") != std::string::npos;
    const HttpReply posted = server.post("/v1/chat/completions", small_chat("hi", 1), {{"Origin", origin}});
    EXPECT_EQ(posted.status, local ? 200 : 403) << origin;
    for (const HttpReply& reply : {server.get("/v1/models", {{"Origin", origin}}), posted,
                                   send_request(server.port(), "OPTIONS", "/v1/chat/completions", "",
                                                {{"Origin", origin}, {"Access-Control-Request-Method", "POST"}})}) {
      EXPECT_EQ(reply.header("access-control-allow-origin"), local ? origin : "") << origin;
      EXPECT_EQ(reply.header("access-control-allow-credentials"), "");
    }
  }
}

TEST(SecurityCases, SimpleRequestForgery) {
  const Json given = read_case("security", "simple-request-forgery")["given"];
  RunningServer server;
  for (const Json& request : given["requests"]) {
    HeaderList headers = {{"Content-Type", request["Content-Type"]}};
    if (request.contains("Origin")) headers.emplace_back("Origin", request["Origin"]);
    const HttpReply reply = server.post_raw("/v1/chat/completions", request["body"], headers);
    EXPECT_THAT(reply.status, AnyOf(400, 403, 415)) << request;
  }
  EXPECT_EQ(server.post_raw("/v1/chat/completions", small_chat().dump(), {{"Content-Type", ""}}).status, 415);
  EXPECT_EQ(server.metric("luce_prompt_tokens_total"), 0);
}

TEST(SecurityCases, EveryRouteNeedsTheKey) {
  read_case("security", "every-route-needs-the-key");
  ServerOptions options;
  options.http.access.api_keys = {"k1"};
  RunningServer server(options);
  // Written out by hand, so that a new route fails here until it is decided on.
  const std::set<std::string> open = {"GET /health"};
  const std::set<std::string> closed = {
      "GET /metrics",         "GET /v1/models",      "GET /v1/models/",   "POST /v1/chat/completions",
      "POST /v1/completions", "POST /v1/embeddings", "POST /v1/messages", "POST /v1/messages/count_tokens",
      "POST /v1/responses"};
  for (const Route& route : server.server().router().routes()) {
    const std::string name = route.method + " " + route.path;
    EXPECT_TRUE(open.contains(name) || closed.contains(name)) << name << " is on neither list";
    const std::string path = route.path.back() == '/' ? route.path + "tiny" : route.path;
    const auto status = [&](const HeaderList& headers) {
      return send_request(server.port(), route.method, path, route.method == "POST" ? "{}" : "", headers).status;
    };
    for (const HeaderList& headers : {HeaderList{}, HeaderList{{"Authorization", "Bearer wrong"}}})
      EXPECT_EQ(status(headers) == 401, !open.contains(name)) << name;
    EXPECT_NE(status({{"Authorization", "Bearer k1"}}), 401) << name;
  }
  EXPECT_EQ(server.get("/v1/models").json()["error"]["code"], "invalid_api_key");
  EXPECT_EQ(server.get("/no/such/route").status, 401);
}

TEST(SecurityCases, EmptyKeyIsNotOpen) {
  read_case("security", "empty-key-is-not-open");
  ServerOptions options;
  options.http.access.api_keys = {"k1"};
  const RunningServer server(options);
  for (const HeaderList& headers : {HeaderList{{"Authorization", "Bearer "}}, HeaderList{{"Authorization", "Bearer"}},
                                    HeaderList{{"x-api-key", ""}}})
    EXPECT_EQ(server.get("/v1/models", headers).status, 401);
}

TEST(SecurityCases, KeyCompareAndSeveralKeys) {
  const Json given = read_case("security", "key-compare-and-several-keys")["given"];
  ServerOptions options;
  options.http.access.api_keys = given["server"]["api_keys"].get<std::vector<std::string>>();
  const RunningServer server(options);
  for (std::string key : given["tried"]) {
    if (key[0] == '<') key = std::string(100000, 'a');
    const int status = server.get("/v1/models", {{"Authorization", "Bearer " + key}}).status;
    const bool right = key == "alpha-key-1" || key == "beta-key-2" || key == "alpha-key-1 ";
    EXPECT_EQ(status, right ? 200 : key.size() > 1000 ? 431 : 401) << key.substr(0, 40);
  }
}

TEST(SecurityCases, DefaultBindIsLoopback) {
  read_case("security", "default-bind-is-loopback");
  RunningServer server;
  const std::string port = std::to_string(server.port());
  for (const std::string& address : server.server().addresses())
    EXPECT_THAT(address, AnyOf("127.0.0.1:" + port, "[::1]:" + port));
  EXPECT_TRUE(server.server().loopback_only());
}

TEST(SecurityCases, NoFileAccessThroughNames) {
  const Json given = read_case("security", "no-file-access-through-names")["given"];
  const RunningServer server;
  for (const std::string path : given["paths"]) {
    const HttpReply reply = server.get(path);
    EXPECT_THAT(reply.status, AnyOf(400, 404)) << path;
    EXPECT_TRUE(reply.json()["error"]["message"].is_string());
    EXPECT_THAT(reply.body, Not(HasSubstr("root:")));
  }
  Json body = small_chat();
  body["model"] = "../../etc/passwd";
  EXPECT_EQ(server.chat(body).json()["model"], "tiny");
}

TEST(SecurityCases, SlowHeadersAndBody) {
  read_case("security", "slow-headers-and-body");
  ServerOptions options;
  options.http.gate.header_timeout = milliseconds(600);
  options.http.gate.body_timeout = milliseconds(600);
  const RunningServer server(options);
  const std::string head = request_text("POST", "/v1/chat/completions", std::string(100000, ' '));
  const size_t head_bytes = head.find("\r\n\r\n") + 4;
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(std::make_unique<TestClient>(server.port()));
    clients.back()->send(i % 2 == 0 ? std::string_view("P") : std::string_view(head).substr(0, head_bytes));
  }
  // One byte at a time moves no deadline; a normal upload with gaps below the limit goes through beside them.
  std::thread upload([&] {
    TestClient client(server.port());
    Json body = small_chat("hi", 1);
    body["padding"] = std::string(1 << 20, 'x');
    const std::string text = request_text("POST", "/v1/chat/completions", body.dump());
    for (size_t at = 0; at < text.size(); at += 200000) {
      client.send(std::string_view(text).substr(at, 200000));
      std::this_thread::sleep_for(milliseconds(300));
    }
    EXPECT_EQ(client.read_reply().status, 200);
  });
  const auto begin = Clock::now();
  for (int round = 0; round < 12; ++round) {
    for (size_t i = 0; i < clients.size(); ++i) clients[i]->send(i % 2 == 0 ? "O" : " ");
    const auto asked = Clock::now();
    EXPECT_EQ(server.get("/health").status, 200);
    EXPECT_LT(Clock::now() - asked, milliseconds(1000));
    std::this_thread::sleep_for(milliseconds(100));
  }
  for (const auto& each : clients) EXPECT_TRUE(each->closed_within(milliseconds(3000)));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(8));
  upload.join();
}

TEST(SecurityCases, NoSecretsOrPromptsInLogs) {
  read_case("security", "no-secrets-or-prompts-in-logs");
  ServerOptions options;
  options.http.access.api_keys = {"sekret-canary-1"};
  RunningServer server(options);
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const HeaderList key = {{"Authorization", "Bearer sekret-canary-1"}};
  Json body = small_chat("prompt-canary-2");
  body["user"] = "user-canary-3";
  EXPECT_EQ(server.post("/v1/chat/completions", body, key).status, 200);
  EXPECT_EQ(server.post("/v1/chat/completions", body, {{"x-api-key", "wrong-canary-4"}}).status, 401);
  std::string longer;
  for (int i = 0; i < 2000; ++i) longer += "prompt-canary-2 ";
  EXPECT_EQ(server.post("/v1/chat/completions", small_chat(longer), key).status, 400);
  EXPECT_EQ(server.post_raw("/v1/chat/completions", "{\"messages\": prompt-canary-2", key).status, 400);
  EXPECT_EQ(server.get("/prompt-canary-2?prompt-canary-2", key).status, 404);
  server.stop();
  std::string all = testing::internal::GetCapturedStderr() + testing::internal::GetCapturedStdout();
  ASSERT_FALSE(server.log().empty());
  for (const std::string& line : server.log()) all += line;
  EXPECT_THAT(all, Not(HasSubstr("canary")));
}

TEST(SecurityCases, StatusPagesHoldNoText) {
  read_case("security", "status-pages-hold-no-text");
  const RunningServer server;
  Json body = small_chat("prompt-canary-2", 8);
  body["seed"] = 1;
  const std::string generated = all_text(server.chat(body).json()["choices"][0]["message"]);
  for (const char* path : {"/metrics", "/health", "/v1/models", "/slots", "/props"}) {
    const HttpReply reply = server.get(path);
    EXPECT_THAT(reply.body, Not(HasSubstr("prompt-canary-2"))) << path;
    EXPECT_THAT(reply.body, Not(HasSubstr(".gguf"))) << path;
    if (generated.size() >= 8) {
      EXPECT_THAT(reply.body, Not(HasSubstr(generated.substr(0, 8)))) << path;
    }
  }
}

TEST(SecurityCases, ErrorTextsDoNotEcho) {
  const Json given = read_case("security", "error-texts-do-not-echo")["given"];
  const RunningServer server;
  for (Json request : given["requests"]) {
    if (request.contains("temperature")) request["temperature"] = std::string(100000, 'y');
    if (request["messages"][0].contains("role") && request["messages"][0]["role"] != "user")
      request["messages"][0]["role"] = std::string(5000, 'z');
    const HttpReply reply = server.chat(request);
    EXPECT_EQ(reply.status, 400) << request.dump().substr(0, 100);
    EXPECT_LT(reply.body.size(), 2000U);
    EXPECT_THAT(reply.header("content-type"), testing::StartsWith("application/json"));
    EXPECT_EQ(reply.header("x-content-type-options"), "nosniff");
  }
  server.expect_alive();
}

}  // namespace
}  // namespace luce::server
