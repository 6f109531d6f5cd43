#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "server/chat_request.hpp"
#include "server/completion_request.hpp"
#include "server/json_limits.hpp"

namespace luce::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr RequestBounds kBounds{2048, 8};

Json chat_body() { return Json::parse(R"({"messages":[{"role":"user","content":"hi"}]})"); }

Json with(const char* field, const Json& value) {
  Json body = chat_body();
  body[field] = value;
  return body;
}

struct Fault {
  std::string param;
  std::string message;
};

std::optional<Fault> fault_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_request);
    return Fault{error.param(), error.what()};
  }
  return std::nullopt;
}

std::optional<Fault> chat_fault(const Json& body) {
  return fault_of([&body] { parse_chat_request(body, kBounds); });
}
std::optional<Fault> completion_fault(const Json& body) {
  return fault_of([&body] { parse_completion_request(body, kBounds); });
}

TEST(ChatRequest, TakesEveryField) {
  const ChatRequest request = parse_chat_request(Json::parse(R"({
    "model": "m", "messages": [{"role": "user", "content": "hi", "session_id": "from-message"}],
    "temperature": 0.5, "top_p": 0.9, "top_k": 40, "min_p": 0.05, "presence_penalty": 1, "frequency_penalty": -1,
    "repeat_penalty": 1.1, "max_tokens": 5, "max_completion_tokens": 7, "seed": 9223372036854775808, "n": 2,
    "stop": ["a", "b"], "logit_bias": {"5": -100}, "logprobs": true, "top_logprobs": 3, "ignore_eos": true,
    "stream": true, "stream_options": {"include_usage": true}, "tools": [{"type": "function", "function": {"name": "f"}}],
    "tool_choice": {"type": "function", "function": {"name": "f"}}, "parallel_tool_calls": false,
    "chat_template_kwargs": {"a": 1}, "reasoning_effort": "none", "thinking_budget_tokens": 16,
    "response_format": {"type": "json_schema", "json_schema": {"name": "r", "schema": {"type": "object"}}},
    "metadata": {"task_tag": "rag_qa"}, "user": "u", "unknown": [1, {"x": null}]})"),
                                                 kBounds);
  const auto& settings = request.settings;
  EXPECT_EQ(request.model, "m");
  EXPECT_FLOAT_EQ(settings.sampling.temperature, 0.5F);
  EXPECT_EQ(settings.sampling.top_k, 40);
  EXPECT_EQ(settings.max_tokens, 7);
  EXPECT_EQ(settings.seed, 9223372036854775808U);
  EXPECT_EQ(request.delivery.choices, 2);
  EXPECT_TRUE(request.delivery.stream && request.delivery.include_usage);
  EXPECT_THAT(settings.stop, testing::ElementsAre("a", "b"));
  EXPECT_EQ(settings.sampling.logit_bias.at(0).token, 5);
  EXPECT_EQ(settings.sampling.top_logprobs, 3);
  EXPECT_EQ(request.input.tool_choice.name, "f");
  EXPECT_FALSE(request.input.parallel_tool_calls);
  EXPECT_EQ(request.input.enable_thinking, false);
  EXPECT_EQ(settings.thinking_budget_tokens, 16);
  EXPECT_EQ(settings.output.format, completion::OutputFormat::json_schema);
  EXPECT_EQ(settings.session_id, "from-message");
  EXPECT_EQ(settings.task_tag, "rag_qa");
  EXPECT_EQ(request.input.messages.size(), 1U);
}

TEST(ChatRequest, NullMeansAbsent) {
  for (const char* field : {"model", "temperature", "n", "stop", "max_tokens", "stream", "stream_options", "tools",
                            "tool_choice", "seed", "logit_bias", "metadata", "response_format", "chat_template_kwargs"})
    EXPECT_FALSE(chat_fault(with(field, nullptr))) << field;
}

// Case numeric-fields-range.
TEST(ChatRequest, NumbersOutOfRangeOrOfWrongTypeNameTheirField) {
  const std::vector<std::string> fields = {
      "temperature",    "top_p",      "top_k", "min_p", "presence_penalty", "frequency_penalty",
      "repeat_penalty", "max_tokens", "n",     "seed",  "top_logprobs"};
  for (const std::string& field : fields) {
    for (const char* wrong : {"\"5\"", "true", "[]", "{}"}) {
      const auto fault = chat_fault(with(field.c_str(), Json::parse(wrong)));
      ASSERT_TRUE(fault) << field << " " << wrong;
      EXPECT_EQ(fault->param, field) << wrong;
    }
    for (const char* odd : {"-2147483648", "9223372036854775808", "1e308"}) {
      const auto fault = chat_fault(with(field.c_str(), Json::parse(odd)));
      if (field != "seed") {
        ASSERT_TRUE(fault) << field << " " << odd;
      }
      EXPECT_EQ(fault.value_or(Fault{field, {}}).param, field) << odd;
    }
  }
  for (const char* field : {"top_k", "max_tokens", "n", "top_logprobs", "top_p", "min_p"})
    EXPECT_EQ(chat_fault(with(field, -2)).value_or(Fault{}).param, field);
  EXPECT_FALSE(chat_fault(with("top_k", -1)));
  EXPECT_FALSE(chat_fault(with("max_tokens", -1)));
  EXPECT_FALSE(chat_fault(with("seed", -2)));
}

// Case n-edge-values.
TEST(ChatRequest, ChoicesAreBounded) {
  for (const char* bad : {"0", "-1", "1.5", "\"2\"", "1000000", "9"})
    EXPECT_EQ(chat_fault(with("n", Json::parse(bad))).value_or(Fault{}).param, "n") << bad;
  EXPECT_THAT(chat_fault(with("n", 9))->message, HasSubstr("8"));
  EXPECT_FALSE(chat_fault(with("n", 8)));
}

// Case stop-in-token-array-limits.
TEST(ChatRequest, StopIsAStringOrAFew) {
  for (const char* good : {"\"END\"", R"(["a","b","c","d"])", "[]", "null"})
    EXPECT_FALSE(chat_fault(with("stop", Json::parse(good)))) << good;
  for (const char* bad : {"\"\"", R"([""])", R"(["a",""])", "[1]", "7", R"({"a":1})"})
    EXPECT_EQ(chat_fault(with("stop", Json::parse(bad))).value_or(Fault{}).param, "stop") << bad;
  EXPECT_TRUE(chat_fault(with("stop", Json(std::vector<std::string>(17, "x")))));
}

// Case choice-unknown-name.
TEST(ChatRequest, ToolChoiceMustFitTheTools) {
  for (const char* bad : {R"({"type":"function","function":{"name":"nope"}})", "\"sometimes\"",
                          R"({"type":"function"})", "7", "[]", "{}"}) {
    Json body = with("tools", Json::parse(R"([{"type":"function","function":{"name":"ping"}}])"));
    body["tool_choice"] = Json::parse(bad);
    EXPECT_EQ(chat_fault(body).value_or(Fault{}).param, "tool_choice") << bad;
  }
  EXPECT_EQ(chat_fault(with("tool_choice", "required")).value_or(Fault{}).param, "tool_choice");
  EXPECT_FALSE(chat_fault(with("tool_choice", "none")));
  EXPECT_FALSE(chat_fault(with("tool_choice", "auto")));
}

// Case wrong-type-in-any-field, for the fields that are read here.
TEST(ChatRequest, WrongTypesNameTheirTopLevelField) {
  const std::vector<Json> values = {
      nullptr, "", Json::array(), Json::object(), -1, 1e308, true, "x", Json::array({Json::array()})};
  for (const char* field : {"messages", "tools", "tool_choice", "response_format", "stream", "stream_options", "stop",
                            "logit_bias", "chat_template_kwargs", "logprobs", "user", "metadata", "model"})
    for (const Json& value : values)
      if (const auto fault = chat_fault(with(field, value))) {
        EXPECT_THAT(fault->param, StartsWith(field)) << value.dump();
      }
}

TEST(ChatRequest, LogitBiasIsChecked) {
  for (const char* bad : {R"({"x":1})", R"({"-1":1})", R"({"2048":1})", R"({"1":101})", R"({"1":"a"})", "[]"})
    EXPECT_EQ(chat_fault(with("logit_bias", Json::parse(bad))).value_or(Fault{}).param, "logit_bias") << bad;
}

TEST(ChatRequest, MessagesOfErrorsAreShortWhateverWasSent) {
  Json body = chat_body();
  body["temperature"] = std::string(100000, 'y');
  EXPECT_LT(chat_fault(body)->message.size(), 300U);
}

TEST(CompletionRequest, TakesEveryFormOfPrompt) {
  const auto prompts = [](const char* prompt) {
    return parse_completion_request(Json{{"prompt", Json::parse(prompt)}}, kBounds).prompts;
  };
  EXPECT_EQ(prompts("\"abc\""), (std::vector<RawPrompt>{"abc"}));
  EXPECT_EQ(prompts(R"(["abc"])"), (std::vector<RawPrompt>{"abc"}));
  EXPECT_EQ(prompts(R"(["abc","def"])"), (std::vector<RawPrompt>{"abc", "def"}));
  EXPECT_EQ(prompts("[1,2,3]"), (std::vector<RawPrompt>{std::vector<int32_t>{1, 2, 3}}));
  EXPECT_EQ(prompts("[[1,2],[3]]").size(), 2U);
  for (const char* bad : {"[-1]", "[2048]", R"(["a",1])", R"([1,"a"])", "[]", "null", "{}", "true", "[null]", "[[[]]]",
                          "[1.5]", "[18446744073709551615]", R"([[1],"a"])"})
    EXPECT_EQ(completion_fault({{"prompt", Json::parse(bad)}}).value_or(Fault{}).param, "prompt") << bad;
}

// Case wrong-type-other-endpoints.
TEST(CompletionRequest, WrongTypesNameTheirField) {
  const std::vector<Json> values = {nullptr,
                                    "",
                                    Json::array(),
                                    Json::object(),
                                    -1,
                                    1e308,
                                    true,
                                    Json::array({nullptr}),
                                    Json::array({Json::array()})};
  for (const char* field : {"prompt", "suffix", "echo", "logprobs", "best_of", "stop"})
    for (const Json& value : values) {
      Json body = {{"prompt", "a"}};
      body[field] = value;
      if (const auto fault = completion_fault(body)) {
        EXPECT_EQ(fault->param, field) << value.dump();
      }
    }
  EXPECT_EQ(completion_fault({{"prompt", "a"}, {"suffix", "b"}})->param, "suffix");
  EXPECT_EQ(completion_fault({{"prompt", {"a", "b", "c"}}, {"n", 3}})->param, "n");
}

TEST(JsonLimits, RefuseWhatIsNoObjectAndSayWhere) {
  for (const char* bad :
       {"", "{", "not json", "[]", "null", "123", "\"text\"", "{\"a\":1}{\"b\":2}", "{\"a\":1,}", "{\"a\":NaN}",
        "{\"a\":-Infinity}", "{\"a\":1e999}", "{\"m\":\"\xff\xfe\"}", "{\"a\":\"\\ud800\"}"})
    EXPECT_TRUE(fault_of([bad] { parse_json_object(bad); })) << bad;
  EXPECT_TRUE(fault_of([] { parse_json_object(std::string_view("\0", 1)); }));
  EXPECT_THAT(fault_of([] { parse_json_object("{\"secret-text\"}"); })->message, testing::Not(HasSubstr("secret")));
  EXPECT_EQ(parse_json_object("{\"a\":{\"b\":[1]}}")["a"]["b"][0], 1);
}

// Case deep-json-refused.
TEST(JsonLimits, RefuseDepthSizeAndWideObjects) {
  std::string deep = "{\"messages\":[],\"tools\":";
  deep += std::string(3000, '[') + std::string(3000, ']') + "}";
  EXPECT_THAT(fault_of([&] { parse_json_object(deep); })->message, HasSubstr("128 levels"));
  EXPECT_TRUE(fault_of([] { parse_json_object(std::string(1000000, '[')); }));
  std::string members = "{";
  for (int i = 0; i < 20000; ++i) members += "\"" + std::to_string(i) + "\":1,";
  members += "\"x\":1}";
  EXPECT_THAT(fault_of([&] { parse_json_object(members); })->message, HasSubstr("too many members"));
  std::string values = "{\"a\":[1";
  for (int i = 0; i < 1000001; ++i) values += ",1";
  EXPECT_THAT(fault_of([&] { parse_json_object(values + "]}"); })->message, HasSubstr("values"));
  const std::string quoted = "{\"a\":\"" + std::string(5000, '[') + "\"}";
  EXPECT_FALSE(fault_of([&] { parse_json_object(quoted); }));
}

TEST(RequestParsing, ReasoningEffortsReachTheTemplate) {
  const auto parse = [](const char* effort) {
    Json body = {{"messages", Json::array({{{"role", "user"}, {"content", "hi"}}})}};
    body["reasoning_effort"] = effort;
    return parse_chat_request(body, {2048, 8}).input;
  };
  for (const auto& [given, known] : std::vector<std::pair<const char*, const char*>>{{"none", "low"},
                                                                                     {"minimal", "low"},
                                                                                     {"low", "low"},
                                                                                     {"medium", "medium"},
                                                                                     {"high", "high"},
                                                                                     {"xhigh", "high"}}) {
    EXPECT_EQ(parse(given).template_kwargs["reasoning_effort"], known);
    EXPECT_EQ(parse(given).enable_thinking, std::string(given) == "none" ? std::optional(false) : std::nullopt);
  }
  EXPECT_THROW(parse("much"), Error);
  Json body = {{"messages", Json::array({{{"role", "user"}, {"content", "hi"}}})}};
  body["reasoning_effort"] = "high";
  body["chat_template_kwargs"] = {{"reasoning_effort", "own"}};
  EXPECT_EQ(parse_chat_request(body, {2048, 8}).input.template_kwargs["reasoning_effort"], "own");
}

}  // namespace
}  // namespace luce::server
