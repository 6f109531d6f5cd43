// Cases of tests/golden/cases/streaming.jsonl that a running server decides.
#include <chrono>
#include <cmath>
#include <thread>

#include "server/server_fixture.hpp"

namespace luce::server {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

Json request_of(const std::string& id) { return read_case("streaming", id)["given"]["request"]; }

TEST(StreamingCases, StopInTokenArrayLimits) {
  const Json given = read_case("streaming", "stop-in-token-array-limits")["given"];
  const RunningServer server;
  for (Json value : given["values"]) {
    const bool many = value.is_string() && value.get<std::string>().substr(0, 1) == "<";
    if (many) value = std::vector<std::string>(17, "x");
    Json body = small_chat();
    body["stop"] = value;
    const HttpReply reply = server.chat(body);
    ASSERT_THAT(reply.status, testing::AnyOf(200, 400)) << value;
    const bool good = value == "END" || value.is_null() ||
                      (value.is_array() && !many && value != Json::array({1}) && value != Json::array({""}) &&
                       value != Json::array({"a", ""}));
    EXPECT_EQ(reply.status, good ? 200 : 400) << value;
    if (!good) {
      EXPECT_EQ(reply.json()["error"]["param"], "stop");
    }
  }
}

TEST(StreamingCases, UsageChunkWhenAsked) {
  const RunningServer server;
  const HttpReply reply = server.chat(request_of("usage-chunk-when-asked"));
  ASSERT_EQ(reply.status, 200);
  EXPECT_EQ(reply.frames().back(), "[DONE]");
  const std::vector<Json> chunks = reply.chunks();
  ASSERT_GE(chunks.size(), 3U);
  const Json& usage = chunks.back()["usage"];
  EXPECT_EQ(chunks.back()["choices"].size(), 0U);
  EXPECT_FALSE(chunks[chunks.size() - 2]["choices"][0]["finish_reason"].is_null());
  EXPECT_EQ(usage["total_tokens"].get<int>(),
            usage["prompt_tokens"].get<int>() + usage["completion_tokens"].get<int>());
  for (size_t i = 0; i < chunks.size(); ++i) {
    for (const char* key : {"id", "created", "model"}) EXPECT_EQ(chunks[i][key], chunks[0][key]);
    EXPECT_EQ(chunks[i]["object"], "chat.completion.chunk");
    EXPECT_TRUE(chunks[i]["choices"].is_array());
    EXPECT_TRUE(i + 1 == chunks.size() || !chunks[i].contains("usage"));
  }
}

TEST(StreamingCases, NoUsageChunkWhenNotAsked) {
  const RunningServer server;
  const Json given = read_case("streaming", "no-usage-chunk-when-not-asked")["given"];
  for (const Json& request : given["requests"]) {
    const HttpReply reply = server.chat(request);
    EXPECT_EQ(reply.frames().back(), "[DONE]");
    for (const Json& chunk : reply.chunks()) EXPECT_EQ(chunk["choices"].size(), 1U);
  }
}

TEST(StreamingCases, MidStreamFailureFrame) {
  RunningServer server;
  server.hooks().fail_after_decodes = 3;
  const HttpReply reply = server.chat(request_of("mid-stream-failure-frame"));
  ASSERT_EQ(reply.status, 200);
  const Json last = Json::parse(reply.frames().back());
  EXPECT_TRUE(last["error"]["message"].is_string());
  EXPECT_TRUE(last["error"]["type"].is_string());
  EXPECT_TRUE(last["error"]["code"].is_string());
  EXPECT_GE(reply.frames().size(), 3U);
  EXPECT_THAT(reply.body, Not(HasSubstr("\"finish_reason\":\"stop\"")));
  EXPECT_THAT(reply.body, Not(HasSubstr("\nerror:")));
  server.expect_alive();
}

TEST(StreamingCases, ValidationBeforeHeaders) {
  ServerOptions options;
  options.n_ctx = 256;
  const RunningServer server(options);
  const Json given = read_case("streaming", "validation-before-headers")["given"];
  for (Json request : given["requests"]) {
    std::string text = request["messages"][0]["content"];
    if (text[0] == '<') {
      text.clear();
      for (int i = 0; i < 2000; ++i) text += "word ";
      request["messages"][0]["content"] = text;
    }
    const HttpReply reply = server.chat(request);
    EXPECT_EQ(reply.status, 400);
    EXPECT_THAT(reply.header("content-type"), StartsWith("application/json"));
    EXPECT_TRUE(reply.json()["error"].is_object());
    EXPECT_THAT(reply.body, Not(HasSubstr("data:")));
  }
}

TEST(StreamingCases, KeepAliveDuringPrefill) {
  ServerOptions options;
  options.http.generation.keep_alive_interval = milliseconds(100);
  RunningServer server(options);
  Json body = request_of("keep-alive-during-prefill");
  body["temperature"] = 0;
  const std::string expected = joined(server.chat(body)) + joined(server.chat(body), "reasoning_content");
  server.hooks().prompt_step_ms = 700;
  const auto begin = Clock::now();
  TestClient client(server.port());
  client.send(request_text("POST", "/v1/chat/completions", body.dump()));
  const std::string first = client.receive(milliseconds(1000));
  EXPECT_LT(Clock::now() - begin, milliseconds(500));
  EXPECT_THAT(first, HasSubstr("Content-Type: text/event-stream"));
  std::string rest;
  while (rest.find("[DONE]") == std::string::npos && Clock::now() - begin < std::chrono::seconds(5))
    rest += client.receive(milliseconds(500));
  const std::string silent = (first + rest).substr(0, (first + rest).find("data: "));
  size_t comments = 0;
  for (size_t at = silent.find("\n:"); at != std::string::npos; at = silent.find("\n:", at + 1)) ++comments;
  EXPECT_GE(comments, 3U);
  const HttpReply again = server.chat(body);
  EXPECT_EQ(joined(again) + joined(again, "reasoning_content"), expected);
}

TEST(StreamingCases, ChunkFieldTypes) {
  const RunningServer server;
  const std::vector<Json> chunks = server.chat(request_of("chunk-field-types")).chunks();
  ASSERT_GE(chunks.size(), 2U);
  for (size_t i = 0; i < chunks.size(); ++i) {
    const Json& choice = chunks[i]["choices"][0];
    EXPECT_EQ(choice["index"], 0);
    EXPECT_TRUE(chunks[i]["created"].is_number_integer());
    EXPECT_THAT(chunks[i]["id"].get<std::string>(), StartsWith("chatcmpl"));
    EXPECT_EQ(choice["delta"].contains("role"), i == 0);
    const bool last = i + 1 == chunks.size();
    EXPECT_EQ(choice["finish_reason"].is_null(), !last);
    for (const auto& [key, value] : choice["delta"].items())
      EXPECT_TRUE(!value.is_null() || (i == 0 && key == "content"));
  }
  EXPECT_EQ(chunks[0]["choices"][0]["delta"]["role"], "assistant");
  EXPECT_THAT(chunks.back()["choices"][0]["finish_reason"].get<std::string>(), testing::AnyOf("stop", "length"));
}

TEST(StreamingCases, EventStreamFraming) {
  const RunningServer server;
  const HttpReply reply = server.chat(request_of("event-stream-framing"));
  EXPECT_THAT(reply.header("content-type"), StartsWith("text/event-stream"));
  EXPECT_EQ(reply.header("cache-control"), "no-cache");
  EXPECT_TRUE(reply.complete);
  std::string rest = reply.body;
  while (!rest.empty()) {
    const size_t end = rest.find("\n\n");
    ASSERT_NE(end, std::string::npos);
    const std::string frame = rest.substr(0, end);
    EXPECT_EQ(frame.find('\n'), std::string::npos);
    ASSERT_THAT(frame, StartsWith("data: "));
    EXPECT_TRUE(frame == "data: [DONE]" || Json::parse(frame.substr(6)).is_object());
    rest = rest.substr(end + 2);
  }
  EXPECT_THAT(reply.body, testing::EndsWith("data: [DONE]\n\n"));
}

TEST(StreamingCases, CompletionsLogprobsShape) {
  const RunningServer server;
  for (const bool stream : {false, true}) {
    Json request = request_of("completions-logprobs-shape");
    request["stream"] = stream;
    const HttpReply reply = server.complete(request);
    ASSERT_EQ(reply.status, 200);
    std::string text;
    Json all = {{"tokens", Json::array()},
                {"token_logprobs", Json::array()},
                {"top_logprobs", Json::array()},
                {"text_offset", Json::array()}};
    for (const Json& part : stream ? reply.chunks() : std::vector<Json>{reply.json()}) {
      text += part["choices"][0]["text"].get<std::string>();
      const Json& logprobs = part["choices"][0]["logprobs"];
      if (logprobs.is_null()) continue;
      for (auto& [key, list] : all.items())
        for (const Json& each : logprobs[key]) list.push_back(each);
    }
    for (const auto& [key, list] : all.items()) EXPECT_EQ(list.size(), 3U) << key;
    std::string joined_tokens;
    for (size_t i = 0; i < 3; ++i) {
      joined_tokens += all["tokens"][i].get<std::string>();
      EXPECT_GE(all["top_logprobs"][i].size(), 2U);
      EXPECT_LE(all["token_logprobs"][i].get<double>(), 0);
    }
    EXPECT_EQ(joined_tokens, text);
  }
}

TEST(StreamingCases, ChatLogprobsShape) {
  const RunningServer server;
  std::vector<Json> entries[2];
  std::string contents[2];
  for (const bool stream : {false, true}) {
    Json request = request_of("chat-logprobs-shape");
    request["stream"] = stream;
    const HttpReply reply = server.chat(request);
    ASSERT_EQ(reply.status, 200) << reply.body;
    contents[stream] = stream ? joined(reply) : reply.json()["choices"][0]["message"]["content"].get<std::string>();
    for (const Json& part : stream ? reply.chunks() : std::vector<Json>{reply.json()}) {
      const Json& logprobs = part["choices"][0]["logprobs"];
      if (!logprobs.is_null())
        entries[stream].insert(entries[stream].end(), logprobs["content"].begin(), logprobs["content"].end());
    }
  }
  EXPECT_EQ(entries[0], entries[1]);
  EXPECT_EQ(contents[0], contents[1]);
  ASSERT_FALSE(entries[0].empty());
  std::string bytes;
  for (const Json& entry : entries[0]) {
    for (const Json& byte : entry["bytes"]) bytes += static_cast<char>(byte.get<int>());
    ASSERT_EQ(entry["top_logprobs"].size(), 3U);
    EXPECT_EQ(entry["top_logprobs"][0]["token"], entry["token"]);
    EXPECT_EQ(entry["top_logprobs"][0]["logprob"], entry["logprob"]);
    double sum = 0;
    double previous = 0;
    for (const Json& top : entry["top_logprobs"]) {
      const double logprob = top["logprob"];
      EXPECT_TRUE(std::isfinite(logprob) && logprob <= previous);
      previous = logprob;
      sum += std::exp(logprob);
    }
    EXPECT_LE(sum, 1.000001);
  }
  EXPECT_EQ(replace_invalid_utf8(bytes), contents[0]);
}

}  // namespace
}  // namespace luce::server
