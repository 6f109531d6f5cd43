// Cases of tests/golden/cases/http.jsonl that a running server decides.
#include <chrono>

#include "base/memory_limit.hpp"
#include "server/server_fixture.hpp"
#include "support/sanitizer.hpp"

namespace luce::server {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;
using Clock = std::chrono::steady_clock;

void expect_error_object(const HttpReply& reply) {
  EXPECT_THAT(reply.header("content-type"), StartsWith("application/json"));
  const Json body = reply.json();
  EXPECT_TRUE(body["error"]["message"].is_string());
  EXPECT_TRUE(body["error"]["type"].is_string());
  EXPECT_TRUE(body["error"].contains("param"));
  EXPECT_TRUE(body["error"].contains("code"));
  EXPECT_LT(reply.body.size(), 2000U);
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

TEST(HttpCases, ModelsListShape) {
  const Json given = read_case("http", "models-list-shape");
  ServerOptions options;
  options.model = "models/qwen35moe-nano-f32.gguf";
  const RunningServer server(options);
  const HttpReply list = server.get("/v1/models");
  EXPECT_EQ(list.status, 200);
  const Json body = list.json();
  EXPECT_EQ(body["object"], "list");
  ASSERT_EQ(body["data"].size(), 1U);
  const Json& model = body["data"][0];
  EXPECT_EQ(model["id"], "tiny");
  EXPECT_EQ(model["object"], "model");
  EXPECT_TRUE(model["created"].is_number_integer());
  EXPECT_TRUE(model["owned_by"].is_string());
  EXPECT_EQ(model["context_length"], 512);
  EXPECT_EQ(model["max_model_len"], 512);
  EXPECT_EQ(model["meta"]["n_ctx"], 512);
  EXPECT_EQ(model["meta"]["n_ctx_train"], 4096);
  EXPECT_EQ(server.get("/v1/models/tiny").json(), model);
  const HttpReply missing = server.get("/v1/models/none");
  EXPECT_EQ(missing.status, 404);
  expect_error_object(missing);
  EXPECT_THAT(list.body, testing::Not(HasSubstr("/")));
}

TEST(HttpCases, NotReadyWhileLoading) {
  read_case("http", "not-ready-while-loading");
  ServerOptions options;
  options.http.access.api_keys = {"k1"};
  RunningServer server(options, false);
  const HeaderList key = {{"Authorization", "Bearer k1"}};
  const auto begin = Clock::now();
  const HttpReply health = server.get("/health");
  EXPECT_LT(seconds_since(begin), 0.3);
  EXPECT_EQ(health.status, 503);
  EXPECT_EQ(health.json()["status"], "loading");
  EXPECT_FALSE(health.header("retry-after").empty());
  const HttpReply chat = server.post("/v1/chat/completions", small_chat(), key);
  EXPECT_EQ(chat.status, 503);
  expect_error_object(chat);
  EXPECT_EQ(server.get("/v1/models", key).status, 503);
  server.finish_loading();
  EXPECT_EQ(server.get("/health").status, 200);
  EXPECT_EQ(server.get("/health").json()["status"], "ok");
}

TEST(HttpCases, ModelNameHandling) {
  const Json given = read_case("http", "model-name-handling")["given"];
  for (const bool strict : {false, true}) {
    ServerOptions options;
    options.http.generation.strict_model = strict;
    const RunningServer server(options);
    for (const Json& each : given["requests"]) {
      Json body = small_chat();
      body.update(each);
      const HttpReply reply = server.chat(body);
      const bool foreign = each.value("model", Json()) == "other-model";
      EXPECT_EQ(reply.status, strict && foreign ? 404 : 200) << each;
      if (reply.status == 200) {
        EXPECT_EQ(reply.json()["model"], "tiny");
        continue;
      }
      EXPECT_EQ(reply.json()["error"]["code"], "model_not_found");
      EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr("tiny"));
    }
    Json wrong = small_chat();
    wrong["model"] = 7;
    EXPECT_EQ(server.chat(wrong).status, 400);
    EXPECT_EQ(server.chat(wrong).json()["error"]["param"], "model");
  }
}

TEST(HttpCases, NumericFieldsRange) {
  const Json given = read_case("http", "numeric-fields-range")["given"];
  const RunningServer server;
  for (const std::string field : given["fields"]) {
    for (const std::string value : given["raw_json_values"]) {
      const std::string body =
          R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":1,")" + field + "\":" + value + "}";
      const HttpReply reply = server.post_raw("/v1/chat/completions", body);
      EXPECT_THAT(reply.status, AnyOf(200, 400)) << field << " " << value;
      const bool no_json = value == "NaN" || value == "-Infinity" || value == "1e999";
      const bool wrong_type = value == "\"5\"" || value == "true" || value == "[]" || value == "{}";
      if (no_json || wrong_type) {
        EXPECT_EQ(reply.status, 400) << field << " " << value;
      }
      if (wrong_type) {
        EXPECT_EQ(reply.json()["error"]["param"], field) << value;
      }
    }
  }
  server.expect_alive();
}

Json replaced(Json body, const std::string& path, const Json& value) {
  std::string pointer = "/" + path;
  for (size_t at = pointer.find('.'); at != std::string::npos; at = pointer.find('.')) pointer[at] = '/';
  for (size_t at = pointer.find('['); at != std::string::npos; at = pointer.find('[')) pointer[at] = '/';
  std::erase(pointer, ']');
  body[Json::json_pointer(pointer)] = value;
  return body;
}

Json rich_chat() {
  Json body = small_chat("hi", 1);
  body["tools"] = Json::parse(R"([{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}])");
  body["response_format"] = {{"type", "text"}, {"json_schema", Json::object()}};
  body["messages"][0]["tool_calls"] = nullptr;
  return body;
}

TEST(HttpCases, WrongTypeInAnyField) {
  const Json given = read_case("http", "wrong-type-in-any-field")["given"];
  const RunningServer server;
  for (const std::string field : given["fields"]) {
    for (const Json& value : given["values"]) {
      const auto begin = Clock::now();
      const HttpReply reply = server.chat(replaced(rich_chat(), field, value));
      EXPECT_LT(seconds_since(begin), 2) << field << value;
      ASSERT_THAT(reply.status, AnyOf(200, 400)) << field << " " << value << " " << reply.body;
      if (reply.status == 200) continue;
      const Json error = reply.json()["error"];
      EXPECT_EQ(error["type"], "invalid_request_error");
      ASSERT_TRUE(error["param"].is_string()) << field << " " << value << " " << reply.body;
      const std::string top = field.substr(0, field.find_first_of(".["));
      EXPECT_THAT(error["param"].get<std::string>(), StartsWith(top)) << field << " " << value;
    }
  }
  server.expect_alive();
}

// The other endpoints of the case are tried in other_api_test.cpp.
TEST(HttpCases, WrongTypeInCompletions) {
  const Json given = read_case("http", "wrong-type-other-endpoints")["given"];
  const RunningServer server;
  for (const std::string field : given["endpoints"]["POST /v1/completions"])
    for (const Json& value : given["values"]) {
      const HttpReply reply =
          server.post("/v1/completions", replaced({{"prompt", "a"}, {"max_tokens", 1}}, field, value));
      EXPECT_THAT(reply.status, AnyOf(200, 400)) << field << value;
    }
  server.expect_alive();
}

TEST(HttpCases, BrokenJsonBodies) {
  const Json given = read_case("http", "broken-json-bodies")["given"];
  const RunningServer server;
  std::vector<std::string> bodies = given["raw_bodies"];
  for (const std::string hex : given["raw_bytes_hex"]) {
    std::string bytes;
    for (size_t at = 0; at < hex.size(); at += 3) bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
    bodies.push_back(bytes);
  }
  for (const std::string& body : bodies) {
    const HttpReply reply = server.post_raw("/v1/chat/completions", body);
    EXPECT_EQ(reply.status, 400) << body;
    expect_error_object(reply);
    EXPECT_EQ(reply.json()["error"]["type"], "invalid_request_error");
  }
  server.expect_alive();
}

TEST(HttpCases, CorsPreflightWithKey) {
  read_case("http", "cors-preflight-with-key");
  ServerOptions options;
  options.http.access.api_keys = {"k1"};
  options.http.access.allowed_hosts = {"https://chat.example"};
  const RunningServer server(options);
  const std::string origin = "https://chat.example";
  const HttpReply preflight = send_request(server.port(), "OPTIONS", "/v1/chat/completions", "",
                                           {{"Origin", origin},
                                            {"Access-Control-Request-Method", "POST"},
                                            {"Access-Control-Request-Headers", "authorization,content-type"}});
  EXPECT_THAT(preflight.status, AnyOf(200, 204));
  EXPECT_EQ(preflight.header("access-control-allow-origin"), origin);
  EXPECT_THAT(preflight.header("access-control-allow-methods"), HasSubstr("POST"));
  EXPECT_THAT(preflight.header("access-control-allow-headers"),
              AllOf(HasSubstr("Authorization"), HasSubstr("Content-Type")));
  for (const bool stream : {false, true}) {
    Json body = small_chat();
    body["stream"] = stream;
    const HttpReply reply =
        server.post("/v1/chat/completions", body, {{"Origin", origin}, {"Authorization", "Bearer k1"}});
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.header("access-control-allow-origin"), origin);
    EXPECT_THAT(reply.header("vary"), HasSubstr("Origin"));
  }
  const HttpReply denied = server.post("/v1/chat/completions", small_chat(), {{"Origin", origin}});
  EXPECT_EQ(denied.status, 401);
  EXPECT_EQ(denied.header("access-control-allow-origin"), origin);
  const HttpReply bad = server.post("/v1/chat/completions", Json::object(), {{"Origin", origin}, {"x-api-key", "k1"}});
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(bad.header("access-control-allow-origin"), origin);
}

TEST(HttpCases, BodyLimitBothFramings) {
  read_case("http", "body-limit-both-framings");
  ServerOptions options;
  options.http.gate.body_bytes = 1 << 20;
  const RunningServer server(options);
  server.expect_alive();
  const int64_t before = base::resident_bytes();
  const std::string head =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const auto expect_413 = [&](TestClient& client, int status) {
    const HttpReply reply = client.read_reply();
    EXPECT_EQ(reply.status, status);
    expect_error_object(reply);
  };
  {
    TestClient client(server.port());
    client.send(head + "Content-Length: 2097152\r\n\r\n" + std::string(2 << 20, 'a'));
    expect_413(client, 413);
  }
  {
    TestClient client(server.port());
    client.send(head + "Content-Length: 40000000000\r\n\r\n");
    expect_413(client, 413);
  }
  for (const int pieces : {512, 1 << 20}) {
    TestClient client(server.port());
    client.send(head + "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < pieces && client.send("1000\r\n" + std::string(4096, 'a') + "\r\n"); ++i)
      if (i > 300 && client.closed_within(std::chrono::milliseconds(0))) break;
    expect_413(client, 413);
  }
  {
    TestClient client(server.port());
    client.send(head + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n");
    expect_413(client, 400);
  }
  const int64_t grown = base::resident_bytes() - before;
  EXPECT_TRUE(support::kSanitized || grown < 4 << 20) << grown;
  server.expect_alive();
}

TEST(HttpCases, DeepJsonRefused) {
  read_case("http", "deep-json-refused");
  const RunningServer server;
  std::string objects;
  for (int i = 0; i < 10000; ++i) objects += "{\"a\":";
  objects += "1" + std::string(10000, '}');
  std::string open_objects;
  for (int i = 0; i < 50000; ++i) open_objects += "{\"a\":";
  for (const std::string& body : {"{\"messages\":[],\"tools\":" + std::string(3000, '[') + std::string(3000, ']') + "}",
                                  R"({"messages":[{"role":"user","content":"hi"}],"x":)" + objects + "}",
                                  std::string(1000000, '['), open_objects}) {
    const auto begin = Clock::now();
    const HttpReply reply = server.post_raw("/v1/chat/completions", body);
    EXPECT_LT(seconds_since(begin), 1);
    EXPECT_EQ(reply.status, 400);
    expect_error_object(reply);
  }
  server.expect_alive();
}

TEST(HttpCases, AbsentEndpointJsonError) {
  read_case("http", "absent-endpoint-json-error");
  const RunningServer server;
  const HttpReply embeddings = server.post("/v1/embeddings", {{"input", "a"}});
  EXPECT_EQ(embeddings.status, 501);
  expect_error_object(embeddings);
  const HttpReply nothing = server.get("/v1/nothing");
  EXPECT_EQ(nothing.status, 404);
  expect_error_object(nothing);
  EXPECT_EQ(server.post("/v1/audio/speech", Json::object()).status, 404);
  const HttpReply deleted = send_request(server.port(), "DELETE", "/v1/models");
  EXPECT_EQ(deleted.status, 405);
  EXPECT_THAT(deleted.header("allow"), HasSubstr("GET"));
  expect_error_object(deleted);
  server.expect_alive();
}

TEST(HttpCases, TerminateDuringPrefill) {
  read_case("http", "terminate-during-prefill");
  RunningServer server;
  server.hooks().prompt_step_ms = 200;
  TestClient client(server.port());
  const Json body = {{"prompt", std::vector<int>(500, 7)}, {"stream", true}, {"max_tokens", 4}};
  client.send(request_text("POST", "/v1/completions", body.dump()));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto begin = Clock::now();
  server.begin_stop();
  EXPECT_FALSE(server.engine().drain(std::chrono::milliseconds(200)));
  server.stop();
  EXPECT_LT(seconds_since(begin), 2);
  const HttpReply reply = client.read_reply();
  ASSERT_FALSE(reply.frames().empty()) << reply.body;
  EXPECT_TRUE(Json::parse(reply.frames().back()).contains("error"));
  EXPECT_FALSE(TestClient(server.port()).connected());
}

TEST(HttpCases, MetricsFormat) {
  read_case("http", "metrics-format");
  RunningServer server;
  const HttpReply first = server.get("/metrics");
  EXPECT_THAT(first.header("content-type"), StartsWith("text/plain; version=0.0.4"));
  const double before = server.metric("luce_requests_total{outcome=\"length\"}");
  for (int i = 0; i < 3; ++i) server.chat(small_chat());
  EXPECT_EQ(
      server.metric("luce_requests_total{outcome=\"length\"}") + server.metric("luce_requests_total{outcome=\"stop\"}"),
      before + 3);
  const HttpReply second = server.get("/metrics");
  EXPECT_EQ(second.body.back(), '\n');
  EXPECT_THAT(second.body, HasSubstr("luce_time_to_first_token_ms_bucket"));
}

TEST(HttpCases, LocalhostBothFamilies) {
  read_case("http", "localhost-both-families");
  const RunningServer server;
  EXPECT_EQ(server.get("/health").status, 200);
  TestClient six(server.port(), "::1");
  ASSERT_TRUE(six.connected());
  six.send(request_text("GET", "/health"));
  EXPECT_EQ(six.read_reply().status, 200);
}

TEST(HttpCases, KeyFormsAndUnknownHeaders) {
  const Json given = read_case("http", "key-forms-and-unknown-headers")["given"];
  ServerOptions options;
  options.http.access.api_keys = {"k1"};
  const RunningServer server(options);
  for (const Json& headers : given["headers"]) {
    HeaderList list;
    for (const auto& [name, value] : headers.items()) list.emplace_back(name, value);
    EXPECT_EQ(server.get("/v1/models", list).status, 200) << headers;
  }
}

TEST(HttpCases, CompletionsPromptForms) {
  const Json given = read_case("http", "completions-prompt-forms")["given"];
  const RunningServer server;
  for (const Json& prompt : given["prompts"]) {
    const HttpReply reply = server.complete({{"prompt", prompt}, {"max_tokens", 2}});
    EXPECT_THAT(reply.status, AnyOf(200, 400)) << prompt << reply.body;
    const bool one = prompt == "abc" || prompt == Json::parse(R"(["abc"])") || prompt == Json::parse("[1,2,3]");
    const bool two = prompt == Json::parse(R"(["abc","def"])") || prompt == Json::parse("[[1,2],[3]]");
    const bool bad =
        prompt == Json::parse("[-1]") || prompt == Json::parse("[2048]") || prompt == Json::parse(R"(["a",1])");
    if (one || two) {
      ASSERT_EQ(reply.status, 200) << prompt << reply.body;
      const Json choices = reply.json()["choices"];
      ASSERT_EQ(choices.size(), two ? 2U : 1U);
      for (size_t i = 0; i < choices.size(); ++i) EXPECT_EQ(choices[i]["index"], i);
    }
    if (bad) {
      ASSERT_EQ(reply.status, 400) << prompt;
      EXPECT_EQ(reply.json()["error"]["param"], "prompt");
    }
  }
  server.expect_alive();
}

TEST(HttpCases, UnicodeSurvivesRoundTrip) {
  const Json given = read_case("http", "unicode-survives-round-trip")["given"];
  ServerOptions options;
  options.chat_template = given["server"]["chat_template"];
  const RunningServer server(options);
  for (const std::string body : given["raw_bodies"]) {
    completion::ChatInput input;
    input.messages = Json::parse(body)["messages"];
    EXPECT_EQ(server.completer().prepare(input, {}).text, std::string("\xc3\xa9\xf0\x9f\xa6\x99\0\n", 8));
    EXPECT_EQ(server.post_raw("/v1/chat/completions", body).status, 200);
  }
}

}  // namespace
}  // namespace luce::server
