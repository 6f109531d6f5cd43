// Cases of context.jsonl that a running server decides.
#include "base/memory_limit.hpp"
#include "server/server_fixture.hpp"
#include "support/sanitizer.hpp"

namespace luce::server {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

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
  const int64_t grown = base::resident_bytes() - early;
  EXPECT_TRUE(support::kSanitized || grown < 16 << 20) << grown;
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

}  // namespace
}  // namespace luce::server
