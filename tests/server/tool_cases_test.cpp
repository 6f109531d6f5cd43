// Cases of tool_calls.jsonl and reasoning.jsonl that a running server decides.
#include <chrono>

#include "server/server_fixture.hpp"

namespace luce::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Clock = std::chrono::steady_clock;

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
