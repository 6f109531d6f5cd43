// Cases of constrained output, forced calls and thinking that a running server decides.
#include <chrono>

#include "base/memory_limit.hpp"
#include "server/server_fixture.hpp"
#include "support/sanitizer.hpp"

namespace luce::server {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& action) {
  const auto begin = Clock::now();
  action();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

TEST(ConstraintCases, SchemaPatternInvalid) {
  const Json given = read_case("http", "schema-pattern-invalid")["given"];
  const RunningServer server(hybrid());
  for (const Json& pattern : given["patterns"]) {
    Json body = small_chat();
    body.update(given["wrap"]);
    body["response_format"]["json_schema"]["schema"]["properties"]["v"]["pattern"] = pattern;
    const HttpReply reply = server.chat(body);
    EXPECT_EQ(reply.status, 400) << pattern;
    EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(),
                AllOf(HasSubstr("properties/v"), HasSubstr("pattern")))
        << pattern;
  }
  server.expect_alive();
}

/// A string schema inside `depth` others.
std::string nested(const std::string& open, int depth, const std::string& close) {
  std::string before, after;
  for (int i = 0; i < depth; ++i) {
    before += open;
    after += close;
  }
  return before + R"({"type":"string"})" + after;
}

TEST(ConstraintCases, DeepGrammarRefused) {
  read_case("http", "deep-grammar-refused");
  const RunningServer server(hybrid());
  server.expect_alive();
  const int64_t before = base::resident_bytes();
  // As text: JSON values of this depth overflow an instrumented stack when they are copied.
  const std::string deep_items = nested(R"({"type":"array","items":)", 5000, "}");
  const std::string deep_properties = nested(R"({"type":"object","properties":{"a":)", 5000, "}}");
  const std::vector<std::string> fields = {
      R"("grammar":)" + Json("root ::= " + std::string(60000, '(') + "\"a\"" + std::string(60000, ')')).dump(),
      R"("grammar":)" + Json("root ::= \"a\"" + std::string(200000, '?')).dump(),
      R"("response_format":{"type":"json_schema","json_schema":{"name":"r","schema":)" + deep_items + "}}",
      R"("tools":[{"type":"function","function":{"name":"f","parameters":)" + deep_properties + "}}]",
      R"("grammar":"root ::= root")"};
  for (const std::string& field : fields) {
    std::string body = small_chat().dump();
    body.replace(body.size() - 1, 1, "," + field + "}");
    HttpReply reply;
    EXPECT_LT(seconds_of([&] { reply = server.post_raw("/v1/chat/completions", body); }), 2 * support::kSlowness);
    EXPECT_EQ(reply.status, 400) << reply.body;
    EXPECT_TRUE(reply.json()["error"]["message"].is_string());
  }
  const int64_t grown = base::resident_bytes() - before;
  EXPECT_TRUE(support::kSanitized || grown < 64 << 20) << grown;
  server.expect_alive();
}

TEST(ConstraintCases, GrammarWithThinking) {
  const Json given = read_case("reasoning", "grammar-with-thinking")["given"];
  const RunningServer server(hybrid());
  for (const Json& variant : given["variants"])
    for (const bool stream : {false, true}) {
      Json body = given["request"];
      body.update(variant);
      body["stream"] = stream;
      const HttpReply reply = server.chat(body);
      ASSERT_EQ(reply.status, 200) << reply.body;
      std::string content = joined(reply);
      if (!stream) {
        const Json message = reply.json()["choices"][0]["message"];
        content = message["content"].is_string() ? message["content"].get<std::string>() : "";
        EXPECT_LE(reply.json()["usage"]["completion_tokens"], 48);
      }
      EXPECT_EQ(content.find_first_not_of("abcdef"), std::string::npos) << content;
    }
  server.expect_alive();
}

TEST(ConstraintCases, ChoiceRequiredForcesCall) {
  const Json request = read_case("tool_calls", "choice-required-forces-call")["given"]["request"];
  const RunningServer server(hybrid());
  const Json choice = server.chat(request).json()["choices"][0];
  ASSERT_EQ(choice["message"]["tool_calls"].size(), 1U) << choice;
  EXPECT_EQ(choice["message"]["tool_calls"][0]["function"]["name"], "ping");
  EXPECT_EQ(choice["message"]["tool_calls"][0]["function"]["arguments"], "{}");
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_THAT(choice["message"]["content"], AnyOf(Json(), Json("")));
  Json streamed = request;
  streamed["stream"] = true;
  std::string name;
  std::string arguments;
  const HttpReply reply = server.chat(streamed);
  for (const Json& chunk : reply.chunks()) {
    const Json& delta = chunk["choices"][0]["delta"];
    if (!delta.contains("tool_calls")) continue;
    const Json& call = delta["tool_calls"][0];
    EXPECT_EQ(call["index"], 0);
    EXPECT_EQ(call.contains("id"), call["function"].contains("name"));
    name += call["function"].value("name", "");
    arguments += call["function"].value("arguments", "");
  }
  EXPECT_EQ(name, "ping");
  EXPECT_EQ(arguments, "{}");
  EXPECT_EQ(reply.chunks().back()["choices"][0]["finish_reason"], "tool_calls");
}

TEST(ConstraintCases, ChoiceNamedFunction) {
  const Json request = read_case("tool_calls", "choice-named-function")["given"]["request"];
  const RunningServer server(hybrid());
  for (int seed = 1; seed <= 5; ++seed) {
    Json body = request;
    body["seed"] = seed;
    const Json choice = server.chat(body).json()["choices"][0];
    ASSERT_EQ(choice["message"]["tool_calls"].size(), 1U) << choice;
    EXPECT_EQ(choice["message"]["tool_calls"][0]["function"]["name"], "pong");
    EXPECT_THAT(choice["finish_reason"].get<std::string>(), AnyOf("tool_calls", "stop"));
  }
}

TEST(ConstraintCases, SchemasOfNamedToolsAreReadOrRefusedByName) {
  const RunningServer server(hybrid());
  const auto ask = [&](const Json& tools, const Json& choice) {
    Json body = small_chat("hi", 16);
    body["tools"] = tools;
    body["tool_choice"] = choice;
    HttpReply reply;
    EXPECT_LT(seconds_of([&] { reply = server.chat(body); }), 2);
    return reply;
  };
  const auto named = [](const std::string& name) { return Json{{"type", "function"}, {"function", {{"name", name}}}}; };
  const Json odd = read_case("tool_calls", "schema-one-odd-tool-does-not-block")["given"]["tools"];
  EXPECT_EQ(ask(odd, "auto").status, 200);
  EXPECT_EQ(ask(odd, named("ping")).status, 200);
  const HttpReply refused = ask(odd, named("odd"));
  ASSERT_THAT(refused.status, AnyOf(200, 400));
  if (refused.status == 400) {
    EXPECT_THAT(refused.body, AllOf(HasSubstr("odd"), HasSubstr("x"), HasSubstr("pattern")));
  }
  const Json nested = read_case("tool_calls", "schema-nested-pattern-and-maxlength")["given"]["tools"];
  EXPECT_EQ(ask(nested, "auto").status, 200);
  EXPECT_EQ(ask(nested, named("ping")).status, 200);
  const Json recursive = read_case("tool_calls", "schema-recursive-ref")["given"]["tools"];
  for (const Json& tool : recursive) {
    const HttpReply reply = ask(Json::array({tool}), named(tool["function"]["name"]));
    ASSERT_THAT(reply.status, AnyOf(200, 400)) << tool << reply.body;
    if (reply.status == 400) {
      EXPECT_THAT(reply.body, AllOf(HasSubstr(tool["function"]["name"].get<std::string>()), HasSubstr("$ref")));
    }
  }
  server.expect_alive();
}

TEST(ConstraintCases, ThinkingBudgetBoundsThinking) {
  const Json request = read_case("reasoning", "thinking-budget-bounds-thinking")["given"]["request"];
  const RunningServer server(hybrid());
  const Json reply = server.chat(request).json();
  EXPECT_LE(reply["usage"]["completion_tokens_details"]["reasoning_tokens"].get<int>(), 16);
  const Json& choice = reply["choices"][0];
  const bool answered =
      choice["message"]["content"].is_string() && !choice["message"]["content"].get<std::string>().empty();
  EXPECT_TRUE(answered || (choice["finish_reason"] == "length" && reply["usage"]["completion_tokens"] == 64)) << reply;
}

TEST(ConstraintCases, JsonObjectsAreJson) {
  const RunningServer server(hybrid());
  Json body = small_chat("hi", 400);
  body["response_format"] = {{"type", "json_schema"},
                             {"json_schema",
                              {{"name", "r"},
                               {"schema",
                                {{"type", "object"},
                                 {"properties", {{"ok", {{"type", "boolean"}}}}},
                                 {"required", {"ok"}},
                                 {"additionalProperties", false}}}}}};
  body["chat_template_kwargs"] = {{"enable_thinking", false}};
  const Json message = server.chat(body).json()["choices"][0]["message"];
  EXPECT_TRUE(Json::parse(message["content"].get<std::string>())["ok"].is_boolean()) << message;
}

}  // namespace
}  // namespace luce::server
