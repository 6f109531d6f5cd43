// Cases of the sampling, context, template, tokenizer, tool_calls and reasoning files that a running server decides.
#include <chrono>
#include <set>

#include "base/memory_limit.hpp"
#include "server/server_fixture.hpp"

namespace luce::server {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;
using Clock = std::chrono::steady_clock;

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "word ";
  return text;
}

std::string text_of(const HttpReply& reply) {
  const Json choice = reply.json()["choices"][0];
  return choice.contains("text") ? choice["text"].get<std::string>() : all_text(choice["message"]);
}

ServerOptions hybrid(int n_ctx = 2048) {
  ServerOptions options;
  options.model = "models/qwen35moe-nano-f32.gguf";
  options.slots = 1;
  options.n_ctx = n_ctx;
  return options;
}

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

TEST(ContextCases, PromptTooLongIs400) {
  read_case("context", "prompt-too-long-is-400");
  read_case("context", "overflow-wording");
  ServerOptions options;
  options.n_ctx = 256;
  RunningServer server(options);
  const double before = server.metric("luce_prompt_tokens_total");
  for (const int max_tokens : {-1, 32}) {
    const HttpReply reply = server.chat(small_chat(words(400), max_tokens));
    ASSERT_EQ(reply.status, 400);
    const Json error = reply.json()["error"];
    EXPECT_EQ(error["code"], "context_length_exceeded");
    EXPECT_EQ(error["type"], "invalid_request_error");
    EXPECT_EQ(error["n_ctx"], 256);
    completion::ChatInput input;
    input.messages = small_chat(words(400))["messages"];
    EXPECT_EQ(error["n_prompt_tokens"], server.completer().prepare(input, {}).tokens.size());
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("maximum context length is 256 tokens"));
    EXPECT_THAT(error["message"].get<std::string>(), testing::ContainsRegex("requested [0-9]+ tokens"));
  }
  EXPECT_EQ(server.metric("luce_prompt_tokens_total"), before);
  server.expect_alive();
}

TEST(ContextCases, PromptExactlyFillsContext) {
  const Json given = read_case("context", "prompt-exactly-fills-context")["given"];
  ServerOptions options;
  options.n_ctx = 64;
  const RunningServer server(options);
  for (const int count : given["prompt_token_counts"]) {
    const HttpReply reply = server.complete(
        {{"prompt", std::vector<int>(static_cast<size_t>(count), 7)}, {"max_tokens", 8}, {"ignore_eos", true}});
    ASSERT_EQ(reply.status, count < 64 ? 200 : 400) << count << reply.body;
    if (count < 64) {
      EXPECT_EQ(reply.json()["choices"][0]["finish_reason"], "length");
      EXPECT_THAT(reply.json()["usage"]["completion_tokens"].get<int>(), AnyOf(64 - count, 63 - count));
    } else {
      EXPECT_EQ(reply.json()["error"]["code"], "context_length_exceeded");
    }
  }
}

TEST(ContextCases, ContextFillsDuringGeneration) {
  read_case("context", "context-fills-during-generation");
  ServerOptions options;
  options.n_ctx = 96;
  const RunningServer server(options);
  Json body = {{"prompt", std::vector<int>(40, 7)}, {"max_tokens", 1000}, {"ignore_eos", true}, {"temperature", 0}};
  const Json whole = server.complete(body).json();
  EXPECT_EQ(whole["choices"][0]["finish_reason"], "length");
  EXPECT_THAT(whole["usage"]["completion_tokens"].get<int>(), AnyOf(55, 56));
  body["stream"] = true;
  const HttpReply stream = server.complete(body);
  EXPECT_EQ(joined(stream, "text"), whole["choices"][0]["text"]);
  EXPECT_EQ(stream.chunks().back()["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(stream.frames().back(), "[DONE]");
}

TEST(ContextCases, AppendOnlyChatPrefillsNewTokens) {
  read_case("context", "append-only-chat-prefills-new-tokens");
  const RunningServer server(hybrid());
  const auto tokens_of = [&server](const std::string& text) {
    return static_cast<int>(server.tokenizer().encode(text, text::Special::plain).size());
  };
  Json messages = Json::array();
  int reply_tokens = 0;
  for (int turn = 0; turn < 8; ++turn) {
    messages.push_back({{"role", "user"}, {"content", words(40)}});
    const Json body = {{"messages", messages},
                       {"max_tokens", 8},
                       {"temperature", 0},
                       {"chat_template_kwargs", {{"enable_thinking", false}}}};
    const Json reply = server.chat(body).json();
    const int prompt = reply["usage"]["prompt_tokens"];
    const int cached = reply["usage"]["prompt_tokens_details"]["cached_tokens"];
    if (turn == 0) {
      EXPECT_EQ(cached, 0);
    } else {
      EXPECT_LE(prompt - cached, reply_tokens + tokens_of(words(40)) + 32);
    }
    const std::string text = all_text(reply["choices"][0]["message"]);
    reply_tokens = tokens_of(text);
    messages.push_back({{"role", "assistant"}, {"content", text}});
  }
}

TEST(ContextCases, SharedPrefixOtherLastLine) {
  read_case("context", "shared-prefix-other-last-line");
  const RunningServer server(hybrid());
  const RunningServer fresh(hybrid());
  for (int n = 1; n <= 3; ++n) {
    const Json messages = Json::array({{{"role", "system"}, {"content", words(800)}},
                                       {{"role", "user"}, {"content", "The clock shows " + std::to_string(n) + "."}}});
    Json body = {{"messages", messages}, {"max_tokens", 4}, {"temperature", 0}};
    const Json reply = server.chat(body).json();
    const int cached = reply["usage"]["prompt_tokens_details"]["cached_tokens"];
    if (n > 1) {
      EXPECT_GE(cached, 480);
    }
    body["cache_prompt"] = false;
    EXPECT_EQ(text_of(fresh.chat(body)), all_text(reply["choices"][0]["message"]));
  }
}

TEST(ContextCases, EditedEarlierMessage) {
  read_case("context", "edited-earlier-message");
  const RunningServer server(hybrid());
  const RunningServer fresh(hybrid());
  Json messages = Json::array();
  for (int round = 0; round < 12; ++round) {
    messages.push_back({{"role", "user"}, {"content", "Round " + std::to_string(round) + " " + words(30)}});
    if (round > 2)
      messages[static_cast<size_t>(round % 3) * 2]["content"] = "Changed " + std::to_string(round) + " " + words(20);
    Json body = {{"messages", messages}, {"max_tokens", 8}, {"temperature", 0}};
    const std::string text = text_of(server.chat(body));
    body["cache_prompt"] = false;
    EXPECT_EQ(text_of(fresh.chat(body)), text) << round;
    messages.push_back({{"role", "assistant"}, {"content", text}});
  }
}

TEST(ContextCases, ImpossibleRollbackRecomputes) {
  read_case("context", "impossible-rollback-recomputes");
  ServerOptions options = hybrid();
  options.prompt_cache_bytes = 0;
  const RunningServer server(options);
  std::vector<int> a(300);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int>(5 + i % 400);
  std::vector<int> b(a.begin(), a.begin() + 100);
  for (int i = 0; i < 50; ++i) b.push_back(900 + i);
  const auto ask = [](const RunningServer& on, const std::vector<int>& prompt) {
    return on.complete({{"prompt", prompt}, {"temperature", 0}, {"max_tokens", 16}}).json();
  };
  ask(server, a);
  const Json second = ask(server, b);
  EXPECT_EQ(second["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
  const RunningServer fresh(options);
  EXPECT_EQ(ask(fresh, b)["choices"][0]["text"], second["choices"][0]["text"]);
}

TEST(ContextCases, SavedStateIsNotOffered) {
  read_case("context", "saved-state-restores-fully");
  const RunningServer server;
  const HttpReply reply = server.post("/slots/0?action=save", {{"filename", "x"}});
  EXPECT_EQ(reply.status, 404);
  EXPECT_TRUE(reply.json()["error"]["message"].is_string());
}

TEST(ContextCases, CheckpointMemoryCapped) {
  read_case("context", "checkpoint-memory-capped");
  ServerOptions options = hybrid(1024);
  options.slots = 2;
  options.prompt_cache_bytes = size_t{2} << 20;
  RunningServer server(options);
  Json messages = Json::array();
  int64_t early = 0;
  for (int turn = 0; turn < 60; ++turn) {
    if (messages.size() > 20) messages = Json::array();
    messages.push_back({{"role", "user"}, {"content", std::to_string(turn) + " " + words(20)}});
    const HttpReply reply = server.chat({{"messages", messages}, {"max_tokens", 4}});
    ASSERT_EQ(reply.status, 200) << reply.body;
    EXPECT_LE(server.metric("luce_prompt_cache_state_bytes"), 2 << 20);
    messages.push_back({{"role", "assistant"}, {"content", text_of(reply)}});
    if (turn == 15) early = base::resident_bytes();
  }
  EXPECT_LT(base::resident_bytes() - early, 16 << 20);
}

TEST(ContextCases, ProbeBeforeAndAfterUnrelated) {
  const Json given = read_case("context", "probe-before-and-after-unrelated")["given"];
  for (const bool cache : {true, false}) {
    const RunningServer server(hybrid());
    Json probe = given["probe"];
    probe["cache_prompt"] = cache;
    const std::string before = text_of(server.complete(probe));
    Json unrelated = given["unrelated"];
    unrelated["prompt"] = words(140) + "zq7zq7zq7" + words(10);
    EXPECT_EQ(server.complete(unrelated).status, 200);
    EXPECT_EQ(text_of(server.complete(probe)), before);
    EXPECT_THAT(before, testing::Not(HasSubstr("zq7zq7zq7")));
  }
}

TEST(ContextCases, UsageCountsConsistent) {
  const Json request = read_case("context", "usage-counts-consistent")["given"]["request"];
  const RunningServer server(hybrid());
  const Json whole = server.chat(request).json()["usage"];
  Json streamed_request = request;
  streamed_request["stream"] = true;
  streamed_request["stream_options"] = {{"include_usage", true}};
  const Json streamed = server.chat(streamed_request).chunks().back()["usage"];
  completion::ChatInput input;
  input.messages = request["messages"];
  EXPECT_EQ(whole["prompt_tokens"], server.completer().prepare(input, {}).tokens.size());
  for (const Json& usage : {whole, streamed}) {
    EXPECT_EQ(usage["total_tokens"].get<int>(),
              usage["prompt_tokens"].get<int>() + usage["completion_tokens"].get<int>());
    EXPECT_LT(usage["prompt_tokens_details"]["cached_tokens"].get<int>(), usage["prompt_tokens"].get<int>());
  }
  EXPECT_EQ(whole["completion_tokens"], streamed["completion_tokens"]);
  EXPECT_EQ(whole["prompt_tokens"], streamed["prompt_tokens"]);
}

TEST(TemplateCases, TemplateExceptionOne400) {
  const Json given = read_case("template", "template-exception-one-400")["given"];
  ServerOptions options;
  options.chat_template = given["server"]["chat_template"];
  const RunningServer server(options);
  const HttpReply first = server.chat(given["requests"][0]);
  EXPECT_EQ(first.status, 400);
  EXPECT_THAT(first.json()["error"]["message"].get<std::string>(), HasSubstr("zzz is not allowed here"));
  EXPECT_EQ(server.chat(given["requests"][1]).status, 200);
  completion::ChatInput input;
  input.messages = given["requests"][1]["messages"];
  EXPECT_EQ(server.completer().prepare(input, {}).text, "[user]fine[assistant]");
}

TEST(TemplateCases, TemplateExceptionWithTools) {
  const Json given = read_case("template", "template-exception-with-tools")["given"];
  ServerOptions options;
  options.chat_template = given["server"]["chat_template"];
  const RunningServer server(options);
  for (size_t i = 0; i < 3; ++i) {
    const HttpReply reply = server.chat(given["requests"][i]);
    EXPECT_EQ(reply.status, i == 1 ? 200 : 400);
    if (i != 1) {
      EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr("this template has no tools"));
      EXPECT_THAT(reply.header("content-type"), StartsWith("application/json"));
    }
  }
}

TEST(TemplateCases, HistoryArgumentsBrokenJson) {
  const Json given = read_case("template", "history-arguments-broken-json")["given"];
  const RunningServer server(hybrid());
  Json request = given["request"];
  EXPECT_EQ(server.chat(request).status, 200);
  request["messages"][1]["tool_calls"][0]["function"]["arguments"] = R"({"unit":"web","span":"6h")";
  const HttpReply reply = server.chat(request);
  ASSERT_THAT(reply.status, AnyOf(200, 400));
  if (reply.status == 400) {
    EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr("messages[1]"));
  } else {
    completion::ChatInput input;
    input.messages = request["messages"];
    input.tools = request["tools"];
    EXPECT_THAT(server.completer().prepare(input, {}).text, HasSubstr(R"({"unit":"web","span":"6h")"));
  }
}

TEST(TemplateCases, ImagePartOnTextModel) {
  const Json given = read_case("template", "image-part-on-text-model")["given"];
  const RunningServer server;
  const HttpReply reply = server.chat(given["request"]);
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.json()["error"]["type"], "invalid_request_error");
  EXPECT_THAT(reply.body, HasSubstr("image_url"));
  EXPECT_THAT(reply.body, testing::Not(HasSubstr("iVBORw0KGgo")));
  server.expect_alive();
}

TEST(TemplateCases, NoMessagesAndNoUser) {
  const Json given = read_case("template", "no-messages-and-no-user")["given"];
  const RunningServer server(hybrid());
  for (const Json& body : given["bodies"]) {
    Json request = body;
    request["max_tokens"] = 2;
    const HttpReply reply = server.chat(request);
    const bool lone = body.contains("messages") && body["messages"].is_array() && body["messages"].size() == 1 &&
                      body["messages"][0].contains("content") && body["messages"][0]["role"].is_string();
    if (lone) {
      EXPECT_THAT(reply.status, AnyOf(200, 400)) << body;
    } else {
      EXPECT_EQ(reply.status, 400) << body;
      EXPECT_THAT(reply.body, HasSubstr("messages"));
    }
  }
  server.expect_alive();
}

TEST(TokenizerCases, RawCompletionPromptSpecials) {
  const Json given = read_case("tokenizer", "raw-completion-prompt-specials")["given"];
  const RunningServer server(hybrid());
  EXPECT_EQ(server.complete(given["requests"][0]).json()["usage"]["prompt_tokens"], 7);
  EXPECT_EQ(server.complete(given["requests"][1]).json()["usage"]["prompt_tokens"], 3);
}

TEST(TokenizerCases, HugePromptRefusedByBytes) {
  read_case("tokenizer", "huge-prompt-refused-by-bytes");
  ServerOptions options;
  options.http.gate.body_bytes = size_t{64} << 20;
  const RunningServer server(options);
  const int64_t before = base::resident_bytes();
  std::string prompt;
  while (prompt.size() < size_t{32} << 20) prompt += "ab ";
  for (const bool chat : {false, true}) {
    const auto begin = Clock::now();
    const HttpReply reply =
        chat ? server.chat(small_chat(prompt, 1)) : server.complete({{"prompt", prompt}, {"max_tokens", 1}});
    EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 2);
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.json()["error"]["code"], "context_length_exceeded");
  }
  // The client's text, JSON and request, 32 MiB each, are in this process too.
  EXPECT_LT(base::resident_bytes() - before, (256 + 3 * 32) << 20);
  server.expect_alive();
}

Json tool(const std::string& name, const Json& parameters = {{"type", "object"}, {"properties", Json::object()}}) {
  return {{"type", "function"}, {"function", {{"name", name}, {"parameters", parameters}}}};
}

TEST(ToolCases, ChoiceNoneWithoutTools) {
  const Json given = read_case("tool_calls", "choice-none-without-tools")["given"];
  const RunningServer server(hybrid());
  for (const char* key : {"request", "request_2"}) {
    const HttpReply reply = server.chat(given[key]);
    EXPECT_EQ(reply.status, 200);
    EXPECT_FALSE(reply.json()["choices"][0]["message"].contains("tool_calls"));
  }
}

TEST(ToolCases, ChoiceUnknownName) {
  const Json given = read_case("tool_calls", "choice-unknown-name")["given"];
  const RunningServer server(hybrid());
  for (const Json& request : given["requests"]) {
    const HttpReply reply = server.chat(request);
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.json()["error"]["param"], "tool_choice");
  }
  server.expect_alive();
}

TEST(ToolCases, StreamToolsLogprobs) {
  const Json request = read_case("tool_calls", "stream-tools-logprobs")["given"]["request"];
  const RunningServer server(hybrid());
  Json streamed = request;
  streamed["stream"] = true;
  const HttpReply whole = server.chat(request);
  const HttpReply stream = server.chat(streamed);
  EXPECT_EQ(whole.status, 200) << whole.body;
  EXPECT_EQ(stream.status, whole.status);
}

TEST(ToolCases, ToolsWithLargerTokenLimits) {
  const Json given = read_case("tool_calls", "tools-with-larger-token-limits")["given"];
  const RunningServer server(hybrid(2048));
  for (const int max_tokens : given["max_tokens_values"])
    for (const bool stream : {false, true}) {
      Json body = given["request"];
      body["max_tokens"] = max_tokens;
      body["stream"] = stream;
      const HttpReply reply = server.chat(body);
      ASSERT_EQ(reply.status, 200) << reply.body;
      if (!stream) {
        EXPECT_LE(reply.json()["usage"]["completion_tokens"].get<int>(), max_tokens);
      }
    }
  server.expect_alive();
}

TEST(ToolCases, SchemaEmptyObject) {
  const Json given = read_case("tool_calls", "schema-empty-object")["given"];
  const RunningServer server(hybrid());
  for (const Json& tools : given["tools_variants"]) {
    Json body = small_chat();
    body["tools"] = tools;
    for (const char* choice : {"auto", "required"}) {
      body["tool_choice"] = choice;
      EXPECT_EQ(server.chat(body).status, 200) << tools << choice;
    }
  }
}

TEST(ToolCases, SchemaFiftyTools) {
  read_case("tool_calls", "schema-fifty-tools");
  const RunningServer server(hybrid(65536));
  Json tools = Json::array();
  for (int i = 0; i < 60; ++i) {
    Json properties;
    for (int p = 0; p < 12; ++p)
      properties["property_" + std::to_string(p)] = {{"type", p % 2 == 0 ? "string" : "integer"},
                                                     {"description", std::string(80, 'd')}};
    tools.push_back(tool("tool_" + std::to_string(i / 10) + std::to_string(i % 10),
                         {{"type", "object"}, {"properties", properties}}));
  }
  completion::ChatInput input;
  input.messages = small_chat()["messages"];
  input.tools = tools;
  const auto begin = Clock::now();
  const completion::Prompt prompt = server.completer().prepare(input, {});
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 1);
  for (int i = 0; i < 60; ++i)
    EXPECT_THAT(prompt.text, HasSubstr("tool_" + std::to_string(i / 10) + std::to_string(i % 10)));
}

TEST(ToolCases, SchemaBadShapes) {
  const Json given = read_case("tool_calls", "schema-bad-shapes")["given"];
  const RunningServer server(hybrid());
  for (const Json& tools : given["tools_variants"]) {
    Json body = small_chat();
    body["tools"] = tools;
    const HttpReply reply = server.chat(body);
    EXPECT_TRUE(reply.status == 400 || (tools == Json::array({nullptr}) && reply.status == 200)) << tools << reply.body;
    if (reply.status == 400) {
      ASSERT_TRUE(reply.json()["error"]["param"].is_string()) << tools << reply.body;
      EXPECT_THAT(reply.json()["error"]["param"].get<std::string>(), StartsWith("tools")) << tools;
    }
  }
  server.expect_alive();
}

TEST(ToolCases, SchemaLocalRef) {
  const RunningServer server(hybrid());
  Json body = small_chat();
  body["tools"] = read_case("tool_calls", "schema-local-ref")["given"]["tools"];
  EXPECT_EQ(server.chat(body).status, 200);
}

TEST(ReasoningCases, TurnTwoReusesCacheBothWays) {
  const Json given = read_case("reasoning", "turn-two-reuses-cache-both-ways")["given"];
  for (int form = 0; form < 3; ++form) {
    const RunningServer server(hybrid());
    Json first = given["turn_1"];
    std::string system;
    for (int i = 0; i < 300; ++i) system += "x ";
    first["messages"][0]["content"] = system;
    const Json reply = server.chat(first).json();
    const Json message = reply["choices"][0]["message"];
    Json assistant = {{"role", "assistant"}, {"content", message["content"]}};
    if (form == 1) assistant["reasoning_content"] = message.value("reasoning_content", "");
    if (form == 2) assistant["content"] = "<think>\n" + all_text(message) + "\n</think>\n\nok";
    Json second = first;
    second["messages"].push_back(assistant);
    second["messages"].push_back({{"role", "user"}, {"content", "More."}});
    const HttpReply next = server.chat(second);
    ASSERT_EQ(next.status, 200) << next.body;
    completion::ChatInput prefix;
    prefix.messages = Json::array({first["messages"][0]});
    EXPECT_GE(next.json()["usage"]["prompt_tokens_details"]["cached_tokens"].get<int>(), 300) << form;
  }
}

}  // namespace
}  // namespace luce::server
