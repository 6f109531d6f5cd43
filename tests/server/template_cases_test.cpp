// Cases of template.jsonl and tokenizer.jsonl that a running server decides.
#include <ctime>

#include "base/memory_limit.hpp"
#include "server/server_fixture.hpp"
#include "support/sanitizer.hpp"

namespace luce::server {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

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
    const std::clock_t begin = std::clock();  // processor time, the client's too: other programs may run
    const HttpReply reply =
        chat ? server.chat(small_chat(prompt, 1)) : server.complete({{"prompt", prompt}, {"max_tokens", 1}});
    EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 2 * support::kSlowness);
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.json()["error"]["code"], "context_length_exceeded");
  }
  // The client's text, JSON and request, 32 MiB each, are in this process too.
  const int64_t grown = base::resident_bytes() - before;
  EXPECT_TRUE(support::kSanitized || grown < (256 + 3 * 32) << 20) << grown;
  server.expect_alive();
}

}  // namespace
}  // namespace luce::server
