#include "completion/completer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "completion/reply_fixture.hpp"
#include "completion/scripted_model.hpp"
#include "gguf/file.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace luce::completion {
namespace {

using namespace std::chrono_literals;

/// The vocabulary and template of Qwen3.5 around a scripted model.
class CompleterTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (tokenizer_) return;
    const gguf::File file = gguf::File::open(support::golden_path("tokenizers/vocab-qwen35.gguf"));
    tokenizer_ = new text::Tokenizer(file.metadata());
    source_ = new std::string(read_file(support::golden_path("templates/Qwen3.5-4B.jinja")));
    template_ = new text::ChatTemplate(*source_, text::TemplateTokens::of(tokenizer_->vocabulary()));
  }

  std::vector<int32_t> tokens(const std::string& text) const { return tokenizer_->encode(text, text::Special::parse); }

  void say(std::vector<int32_t> script, int context_tokens = 4096) {
    model_ = std::make_unique<ScriptedModel>(tokenizer_->vocabulary().size(), std::move(script), context_tokens);
    engine_ = std::make_unique<engine::Engine>(*model_, engine::EngineSettings{});
    completer_ = std::make_unique<Completer>(*engine_, *tokenizer_, template_, *source_);
  }
  void say(const std::string& text) { say(tokens(text)); }

  static ChatInput chat(const std::string& user) {
    ChatInput input;
    input.messages = {{{"role", "user"}, {"content", user}}};
    return input;
  }

  static GenerationSettings greedy(int max_tokens = 200) {
    GenerationSettings settings;
    settings.sampling.temperature = 0;
    settings.max_tokens = max_tokens;
    return settings;
  }

  Reply start(const Prompt& prompt, const GenerationSettings& settings) {
    return std::get<Reply>(completer_->start(prompt, settings, 0));
  }

  ReadReply read(Reply reply) {
    ReadReply read;
    while (const std::optional<TextEvent> event = reply.next(20s)) {
      add_event(*event, read);
      if (const auto* done = std::get_if<Done>(&*event)) done_ = *done;
      if (const auto* failure = std::get_if<Failure>(&*event)) failure_ = *failure;
    }
    EXPECT_TRUE(reply.ended());
    EXPECT_NE(done_.has_value(), failure_.has_value()) << "exactly one end";
    if (done_) read.finish_reason = finish_reason_name(done_->end);
    return read;
  }

  ReadReply ask(const ChatInput& input, const GenerationSettings& settings) {
    return read(start(completer_->prepare(input, settings), settings));
  }

  static text::Tokenizer* tokenizer_;
  static std::string* source_;
  static text::ChatTemplate* template_;
  std::unique_ptr<ScriptedModel> model_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Completer> completer_;
  std::optional<Done> done_;
  std::optional<Failure> failure_;
};

text::Tokenizer* CompleterTest::tokenizer_ = nullptr;
std::string* CompleterTest::source_ = nullptr;
text::ChatTemplate* CompleterTest::template_ = nullptr;

TEST_F(CompleterTest, ReasoningAndAnswer) {
  say("Hm, \xF0\x9F\xA6\x99.\n</think>\n\nLima.<|im_end|>");
  const Prompt prompt = completer_->prepare(chat("Capital of Peru?"), greedy());
  EXPECT_EQ(prompt.text, "<|im_start|>user\nCapital of Peru?<|im_end|>\n<|im_start|>assistant\n<think>\n");
  const ReadReply reply = read(start(prompt, greedy()));
  EXPECT_EQ(reply.reasoning, "Hm, \xF0\x9F\xA6\x99.");
  EXPECT_EQ(reply.content, "Lima.");
  EXPECT_EQ(reply.finish_reason, "stop");
  const int generated = static_cast<int>(tokens("Hm, \xF0\x9F\xA6\x99.\n</think>\n\nLima.").size());
  EXPECT_EQ(done_->usage.completion_tokens, generated);
  EXPECT_EQ(done_->usage.prompt_tokens, static_cast<int>(prompt.tokens.size()));
  EXPECT_EQ(done_->usage.reasoning_tokens, static_cast<int>(tokens("Hm, \xF0\x9F\xA6\x99.\n").size()));
}

TEST_F(CompleterTest, ThinkingOffStartsInTheAnswer) {
  say("Lima.<|im_end|>");
  ChatInput input = chat("Capital of Peru?");
  input.enable_thinking = false;
  EXPECT_EQ(completer_->prepare(input, greedy()).text,
            "<|im_start|>user\nCapital of Peru?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n");
  const ReadReply reply = ask(input, greedy());
  EXPECT_EQ(reply.content, "Lima.");
  EXPECT_EQ(reply.reasoning, "");
}

TEST_F(CompleterTest, PrefillThatClosedItsThinkBlockStartsInTheAnswer) {
  say("Lima.<|im_end|>");
  ChatInput input = chat("Capital of Peru?");
  input.messages.push_back({{"role", "assistant"}, {"content", "<think>\nEasy one.\n</think>\n\n"}});
  const ReadReply reply = ask(input, greedy());
  EXPECT_EQ(reply.content, "Lima.");
  EXPECT_EQ(reply.reasoning, "");
}

TEST_F(CompleterTest, ToolCalls) {
  say("I ask.\n</think>\n\n<tool_call>\n<function=get_time>\n<parameter=zone>\nUTC\n</parameter>\n</function>\n"
      "</tool_call><|im_end|>");
  ChatInput input = chat("What time is it?");
  input.tools = Json::parse(
      R"([{"type": "function", "function": {"name": "get_time", "parameters": {"properties": {"zone": {"type": "string"}}}}}])");
  const ReadReply reply = ask(input, greedy());
  EXPECT_EQ(reply.calls.at(0), (ReadCall{{}, "get_time", R"({"zone":"UTC"})"}));
  EXPECT_EQ(reply.reasoning, "I ask.");
  EXPECT_EQ(reply.finish_reason, "tool_calls");
}

TEST_F(CompleterTest, EndTokenIsNotShownButItsTextIs) {
  ChatInput input = chat("Do it.");
  input.enable_thinking = false;
  say("Done.<|im_end|>");
  EXPECT_EQ(ask(input, greedy()).content, "Done.");
  std::vector<int32_t> spelled;
  for (const char* part : {"Done.", "<", "|im_end", "|>"})
    for (const int32_t token : tokenizer_->encode(part, text::Special::plain)) spelled.push_back(token);
  spelled.push_back(*tokenizer_->vocabulary().find("<|im_end|>"));
  say(spelled);
  done_.reset();
  const ReadReply reply = ask(input, greedy());
  EXPECT_EQ(reply.content, "Done.<|im_end|>");
  EXPECT_EQ(reply.finish_reason, "stop");
}

TEST_F(CompleterTest, LimitsCutWithLength) {
  say("First I consider the question, then the answer.<|im_end|>");
  const ReadReply reply = ask(chat("Why?"), greedy(5));
  EXPECT_EQ(reply.finish_reason, "length");
  EXPECT_EQ(reply.content, "");
  EXPECT_NE(reply.reasoning, "");
  EXPECT_EQ(done_->usage.completion_tokens, 5);
}

TEST_F(CompleterTest, StopStringsEndTheReplyAndItsCount) {
  say("red green blue and more words that nobody reads<|im_end|>");
  GenerationSettings settings = greedy();
  settings.stop = {"green blue"};
  const ReadReply reply = read(start(completer_->prepare("Colours: ", settings), settings));
  EXPECT_EQ(reply.content, "red ");
  EXPECT_EQ(reply.finish_reason, "stop");
  EXPECT_EQ(done_->stop_string, "green blue");
  EXPECT_EQ(done_->usage.completion_tokens, static_cast<int>(tokens("red green blue").size()));
}

std::string joined_bytes(const ReadReply& reply, size_t& count) {
  std::string bytes;
  for (const TextEvent& event : reply.events)
    if (const auto* content = std::get_if<ContentDelta>(&event))
      for (const TokenText& token : content->tokens) {
        bytes += token.chosen.bytes;
        ++count;
        EXPECT_EQ(token.top.size(), 3u);
        EXPECT_EQ(token.top.at(0).bytes, token.chosen.bytes);
        EXPECT_LE(token.chosen.logprob, 0);
      }
  return bytes;
}

TEST_F(CompleterTest, LogprobsCoverTheContent) {
  GenerationSettings settings = greedy();
  settings.sampling.logprobs = true;
  settings.sampling.top_logprobs = 3;
  say("Thought.\n</think>\n\nHi \xF0\x9F\xA6\x99\xE6\x97\xA5 there <b> x  <|im_end|>");
  const ReadReply reply = ask(chat("Hi"), settings);
  size_t count = 0;
  EXPECT_EQ(joined_bytes(reply, count), reply.content);
  EXPECT_EQ(count, tokens("Hi \xF0\x9F\xA6\x99\xE6\x97\xA5 there <b> x  ").size());
}

TEST_F(CompleterTest, TextCompletionShowsEveryByte) {
  say("\n <think>\nx</think> <tool_call><|im_end|>");
  EXPECT_EQ(read(start(completer_->prepare("abc", greedy()), greedy())).content, "\n <think>\nx</think> <tool_call>");
}

TEST_F(CompleterTest, ChoicesDifferBySeed) {
  say("x");
  GenerationSettings settings = greedy(24);
  settings.sampling.temperature = 100;
  settings.seed = 5;
  const Prompt prompt = completer_->prepare("abc", settings);
  const auto choice = [&](int index) {
    done_.reset();
    return read(std::get<Reply>(completer_->start(prompt, settings, index))).content;
  };
  EXPECT_EQ(choice(0), choice(0));
  EXPECT_NE(choice(0), choice(1));
}

TEST_F(CompleterTest, FailuresAndRefusals) {
  say(tokens("a b c d e f"), 64);
  model_->before_step = [] { fail(ErrorKind::device, "the device is gone"); };
  read(start(completer_->prepare("abc", greedy()), greedy()));
  ASSERT_TRUE(failure_);
  EXPECT_EQ(failure_->kind, ErrorKind::device);
  const GenerationSettings settings = greedy(32);
  const StartResult result = completer_->start(completer_->prepare(std::vector<int32_t>(70, 1), settings), settings, 0);
  ASSERT_TRUE(std::holds_alternative<engine::ContextOverflow>(result));
  const std::string message = overflow_message(std::get<engine::ContextOverflow>(result), 32);
  EXPECT_TRUE(std::regex_search(message, std::regex("maximum context length is 64 tokens")));
  EXPECT_TRUE(std::regex_search(message, std::regex("requested 102 tokens")));
  engine_->stop();
  EXPECT_TRUE(
      std::holds_alternative<engine::Stopping>(completer_->start(completer_->prepare("x", settings), settings, 0)));
}

TEST_F(CompleterTest, CancelEndsWithAFailure) {
  say("word");
  Reply reply = start(completer_->prepare("abc", greedy(-1)), greedy(-1));
  ASSERT_TRUE(reply.next(20s));
  reply.cancel();
  read(std::move(reply));
  ASSERT_TRUE(failure_);
  EXPECT_EQ(failure_->kind, ErrorKind::cancelled);
}

TEST_F(CompleterTest, ToolsOfWrongShapeNameThePlace) {
  say("x");
  const auto param_of = [&](const Json& tools, const ToolChoice& choice) -> std::string {
    ChatInput input = chat("hi");
    input.tools = tools;
    input.tool_choice = choice;
    try {
      completer_->prepare(input, greedy());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_request);
      return error.param();
    }
    return "";
  };
  for (const Json& row : read_cases("tool_calls")) {
    const bool bad = row["id"] == "schema-bad-shapes";
    if (!bad && row["id"] != "schema-empty-object") continue;
    for (const Json& tools : row["given"]["tools_variants"]) {
      const bool refused = bad && tools != Json::parse("[null]");
      EXPECT_EQ(param_of(tools, {}).substr(0, 5), refused ? "tools" : "") << tools;
    }
  }
  const Json ping = Json::parse(R"([{"type": "function", "function": {"name": "ping"}}])");
  EXPECT_EQ(param_of(ping, {ToolMode::named, "nope"}), "tool_choice");
  EXPECT_EQ(param_of(ping, {ToolMode::named, "ping"}), "");
  EXPECT_EQ(param_of(nullptr, {ToolMode::required, {}}), "tool_choice");
  EXPECT_EQ(param_of(Json::array(), {ToolMode::none, {}}), "");
}

TEST_F(CompleterTest, TurnEndsArePlacesBehindEndTokens) {
  say("x");
  ChatInput input = chat("a");
  for (int i = 0; i < 6; ++i) {
    input.messages.push_back({{"role", "assistant"}, {"content", "b"}});
    input.messages.push_back({{"role", "user"}, {"content", "c"}});
  }
  const Prompt prompt = completer_->prepare(input, greedy());
  ASSERT_EQ(prompt.turn_ends.size(), 5u);
  for (const int end : prompt.turn_ends)
    EXPECT_EQ(tokenizer_->vocabulary().text(prompt.tokens.at(static_cast<size_t>(end) - 1)), "<|im_end|>");
  EXPECT_EQ(prompt.turn_ends.back(),
            static_cast<int>(prompt.tokens.size() - tokens("\n<|im_start|>assistant\n<think>\n").size()));
}

const Json kPing = Json::parse(R"([{"type": "function", "function": {"name": "ping"}},
                                   {"type": "function", "function": {"name": "pong", "parameters": {}}}])");

TEST_F(CompleterTest, AForcedCallIsMadeWhateverTheModelWants) {
  say("Good morning to you too!");
  for (const ToolChoice& choice : {ToolChoice{ToolMode::named, "pong"}, ToolChoice{ToolMode::required, {}}})
    for (const bool thinks : {false, true}) {
      done_.reset();
      ChatInput input = chat("Good morning!");
      input.tools = kPing;
      input.tool_choice = choice;
      input.enable_thinking = thinks;
      GenerationSettings settings = greedy(100);
      settings.thinking_budget_tokens = 4;
      const ReadReply reply = ask(input, settings);
      ASSERT_EQ(reply.calls.size(), 1u);
      EXPECT_TRUE(choice.name.empty() || reply.calls[0].name == choice.name);
      EXPECT_EQ(reply.calls[0].arguments, "{}");
      EXPECT_EQ(reply.content, "");
      EXPECT_EQ(reply.finish_reason, "tool_calls");
      EXPECT_EQ(done_->usage.reasoning_tokens, thinks ? 4 : 0);
    }
}

TEST_F(CompleterTest, ASchemaIsKeptWhateverTheModelWants) {
  say("Let me think about this and that and more");
  GenerationSettings settings = greedy(100);
  settings.thinking_budget_tokens = 3;
  settings.output = {
      OutputFormat::json_schema,
      Json::parse(R"({"type": "object", "properties": {"ok": {"type": "boolean"}, "n": {"type": "integer",
                         "minimum": 3, "maximum": 5}}, "required": ["ok", "n"], "additionalProperties": false})"),
      {}};
  const ReadReply reply = ask(chat("Well?"), settings);
  const Json answer = Json::parse(reply.content, nullptr, false);
  ASSERT_TRUE(answer.is_object()) << reply.content;
  EXPECT_TRUE(answer.at("ok").is_boolean());
  EXPECT_NE(reply.reasoning, "");
  EXPECT_EQ(reply.finish_reason, "stop");
  settings.output = {OutputFormat::grammar, {}, "root ::= [a-f]{3,5}"};
  settings.ignore_eos = true;
  done_.reset();
  const ReadReply letters = read(start(completer_->prepare("Say: ", settings), settings));
  EXPECT_TRUE(std::regex_match(letters.content, std::regex("[a-f]{3,5}"))) << letters.content;
}

TEST_F(CompleterTest, OutputThatCannotBeHadIsRefusedBeforeItIsQueued) {
  say("x");
  const auto param_of = [&](OutputConstraint output) -> std::string {
    GenerationSettings settings = greedy();
    settings.output = std::move(output);
    try {
      completer_->prepare(chat("hi"), settings);
    } catch (const Error& error) {
      return error.param();
    }
    return "accepted";
  };
  EXPECT_EQ(param_of({OutputFormat::json_schema, {{"type", "odd"}}, {}}), "response_format");
  EXPECT_EQ(param_of({OutputFormat::json_schema, {{"$ref", "#"}}, {}}), "response_format");
  EXPECT_EQ(param_of({OutputFormat::grammar, {}, "root ::= ("}), "grammar");
  EXPECT_EQ(param_of({OutputFormat::json_object, {}, {}}), "accepted");
}

}  // namespace
}  // namespace luce::completion
