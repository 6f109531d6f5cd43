// Cases of sampling.jsonl that a running server decides.
#include <set>

#include "server/server_fixture.hpp"

namespace luce::server {
namespace {

TEST(SamplingCases, NThreeChoices) {
  const Json request = read_case("sampling", "n-three-choices")["given"]["request"];
  const RunningServer server;
  const HttpReply reply = server.chat(request);
  ASSERT_EQ(reply.status, 200) << reply.body;
  const Json body = reply.json();
  ASSERT_EQ(body["choices"].size(), 3U);
  std::set<std::string> texts;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(body["choices"][static_cast<size_t>(i)]["index"], i);
    texts.insert(all_text(body["choices"][static_cast<size_t>(i)]["message"]));
  }
  EXPECT_GE(texts.size(), 2U);
  EXPECT_EQ(body["usage"]["completion_tokens"], 36);
  Json one = request;
  one["n"] = 1;
  EXPECT_EQ(body["usage"]["prompt_tokens"], server.chat(one).json()["usage"]["prompt_tokens"]);
}

TEST(SamplingCases, NEdgeValues) {
  const Json given = read_case("sampling", "n-edge-values")["given"];
  const RunningServer server;
  for (const Json& value : given["values"]) {
    Json body = small_chat("hi", 2);
    body["n"] = value;
    const HttpReply reply = server.chat(body);
    const bool good = value.is_null() || value == 1;
    ASSERT_EQ(reply.status, good ? 200 : 400) << value;
    if (good) {
      EXPECT_EQ(reply.json()["choices"].size(), 1U);
    } else {
      EXPECT_EQ(reply.json()["error"]["param"], "n");
    }
  }
  server.expect_alive();
}

TEST(SamplingCases, SeedRepeatsAndDiffers) {
  const Json given = read_case("sampling", "seed-repeats-and-differs")["given"];
  const RunningServer server;
  std::vector<std::string> texts;
  for (const Json& seed : given["seeds"]) {
    Json body = given["request"];
    body["seed"] = seed;
    texts.push_back(text_of(server.chat(body)));
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_GE(std::set<std::string>(texts.begin() + 1, texts.end()).size(), 2U);
}

TEST(SamplingCases, TemperatureZeroIgnoresSeed) {
  const Json given = read_case("sampling", "temperature-zero-ignores-seed")["given"];
  const RunningServer server(hybrid());
  std::set<std::string> texts;
  for (const Json& seed : given["seeds"]) {
    Json body = given["request"];
    body["seed"] = seed;
    texts.insert(text_of(server.complete(body)));
  }
  EXPECT_EQ(texts.size(), 1U);
}

TEST(SamplingCases, RepeatRequestSameGreedyText) {
  read_case("sampling", "repeat-request-same-greedy-text");
  const RunningServer server(hybrid());
  Json body = {{"prompt", words(700)}, {"temperature", 0}, {"seed", 0}, {"max_tokens", 48}};
  std::vector<Json> replies;
  for (int i = 0; i < 4; ++i) {
    if (i == 3) body["cache_prompt"] = false;
    replies.push_back(server.complete(body).json());
  }
  for (const Json& each : replies) EXPECT_EQ(each["choices"][0]["text"], replies[0]["choices"][0]["text"]);
  const auto cached = [&](size_t i) {
    return replies[i]["usage"]["prompt_tokens_details"]["cached_tokens"].get<int>();
  };
  EXPECT_EQ(cached(0), 0);
  EXPECT_GT(cached(1), 0);
  EXPECT_GT(cached(2), 0);
  EXPECT_EQ(cached(3), 0);
}

TEST(SamplingCases, MaxCompletionTokensHonoured) {
  const RunningServer server;
  const Json body = server.chat(read_case("sampling", "max-completion-tokens-honoured")["given"]["request"]).json();
  EXPECT_EQ(body["usage"]["completion_tokens"], 5);
  EXPECT_EQ(body["choices"][0]["finish_reason"], "length");
}

TEST(SamplingCases, MaxTokensOpenValues) {
  const Json given = read_case("sampling", "max-tokens-open-values")["given"];
  ServerOptions options;
  options.n_ctx = 256;
  const RunningServer server(options);
  for (const Json& value : given["values"]) {
    Json body = given["request"];
    if (value != "absent") body["max_tokens"] = value;
    const HttpReply reply = server.chat(body);
    ASSERT_EQ(reply.status, 200);
    const Json usage = reply.json()["usage"];
    EXPECT_NEAR(usage["total_tokens"].get<int>(), 256, 1);
    EXPECT_EQ(reply.json()["choices"][0]["finish_reason"], "length");
  }
}

TEST(SamplingCases, FinishReasonStopOrLength) {
  const Json given = read_case("sampling", "finish-reason-stop-or-length")["given"];
  ServerOptions options;
  options.model = "models/llama-nano-f32.gguf";
  const RunningServer server(options);
  const Json first = server.complete(given["request"]).json();
  EXPECT_EQ(first["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(first["usage"]["completion_tokens"], 3);
  const Json second = server.complete(given["request_2"]).json();
  EXPECT_EQ(second["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(second["choices"][0]["text"], "");
  EXPECT_LE(second["usage"]["completion_tokens"], 1);
}

TEST(SamplingCases, NanLogitsFailTheRequestAlone) {
  read_case("sampling", "all-nan-logits");
  RunningServer server;
  server.hooks().nan_logits = true;
  EXPECT_EQ(server.chat(small_chat()).status, 500);
  Json stream = small_chat();
  stream["stream"] = true;
  EXPECT_TRUE(Json::parse(server.chat(stream).frames().back()).contains("error"));
  server.hooks().nan_logits = false;
  EXPECT_GE(server.metric("luce_requests_total{outcome=\"internal\"}") +
                server.metric("luce_requests_total{outcome=\"device\"}"),
            1);
  server.expect_alive();
}

}  // namespace
}  // namespace luce::server
