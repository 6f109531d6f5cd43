// Generated replies, whole and damaged: however they are cut, they read the same, and nothing hangs or breaks.
#include <gtest/gtest.h>

#include <ctime>

#include "base/format.hpp"
#include "completion/reply_fixture.hpp"
#include "support/mutation_rounds.hpp"

namespace luce::completion {
namespace {

const char* const kTemplates[] = {"Qwen3.5-4B",
                                  "Qwen-Qwen3-0.6B",
                                  "GLM-4.7-Flash",
                                  "poolside-Laguna-XS.2",
                                  "meta-llama-Llama-3.1-8B-Instruct",
                                  "mistralai-Mistral-Nemo-Instruct-2407",
                                  "deepseek-ai-DeepSeek-V3.1",
                                  "openai-gpt-oss-120b"};

const Json kTools = Json::parse(R"([
  {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties":
    {"s": {"type": "string"}, "n": {"type": ["integer", "null"]}, "b": {"type": "boolean"}, "a": {"type": "array"}}}}}])");

const char* const kParts[] = {
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<function=f>",
    "<function=g>",
    "</function>",
    "<parameter=s>",
    "<parameter=n>",
    "<parameter=a>",
    "</parameter>",
    "\n",
    " ",
    "\r\n",
    "word",
    "Ünï",
    "日本",
    "🦙",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "{\"name\": \"f\", \"arguments\": {",
    "\"s\": \"x\"",
    "null",
    "true",
    "1",
    "<",
    ">",
    "</",
    "f",
    "<arg_key>",
    "s</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "<|python_tag|>",
    ";",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "<|channel|>",
    "analysis",
    "final",
    "commentary to=functions.f",
    "<|message|>",
    "<|end|>",
    "<|start|>assistant",
    "STOP",
    "<tool_call>\n<function=f>\n<parameter=s>\nx\n</parameter>\n</function>\n</tool_call>",
    "<tool_call>{\"name\": \"f\", \"arguments\": {\"s\": \"x\"}}</tool_call>",
    "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"s\": \"x\"}}]",
    "{\"name\": \"f\", \"parameters\": {\"s\": \"x\"}}",
    "<tool_call>f\n<arg_key>s</arg_key>\n<arg_value>x</arg_value>\n</tool_call>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"n\": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "<|channel|>commentary to=functions.f<|message|>{\"n\": 1}<|call|>"};

std::string random_text(std::mt19937& random) {
  std::string text;
  const size_t count = 1 + random() % 24;
  for (size_t i = 0; i < count; ++i) text += kParts[random() % std::size(kParts)];
  return text;
}

std::string mutated(std::string text, std::mt19937& random) {
  for (int i = 0; i < 3 && !text.empty(); ++i) {
    const size_t at = random() % text.size();
    switch (random() % 3) {
      case 0: text[at] = static_cast<char>(random() % 256); break;
      case 1: text.erase(at, 1 + random() % 4); break;
      default: text.insert(at, text.substr(random() % text.size(), 1 + random() % 12));
    }
  }
  return text;
}

ReadSettings random_settings(const char* template_name, std::mt19937& random) {
  ReadSettings settings{.template_name = template_name};
  if (random() % 5 != 0) settings.tools = kTools;
  settings.tool_choice_none = random() % 8 == 0;
  settings.one_call = random() % 8 == 0;
  settings.starts_in_reasoning = random() % 3 == 0;
  settings.cut = random() % 4 == 0;
  if (random() % 4 == 0) settings.stop = {"STOP", "\n\n"};
  return settings;
}

class ReplyStyle : public testing::TestWithParam<const char*> {};

TEST_P(ReplyStyle, FiveThousandRepliesReadTheSameForRandomCuts) {
  std::mt19937 random(11);
  int calls = 0, reasonings = 0;
  for (int run = 0; run < 5000; ++run) {
    const ReadSettings settings = random_settings(GetParam(), random);
    const std::string text = random_text(random);
    const ReadReply whole = read_reply(settings, {text});
    calls += static_cast<int>(whole.calls.size());
    reasonings += whole.reasoning.empty() ? 0 : 1;
    for (int cut = 0; cut < 4; ++cut)
      ASSERT_EQ(read_reply(settings, random_pieces(text, random)), whole)
          << " reasoning " << settings.starts_in_reasoning << ": " << Json(text);
    ASSERT_EQ(read_reply(settings, pieces_of(text, 1)), whole) << Json(text);
  }
  EXPECT_GT(calls, 50);
  EXPECT_TRUE(reasonings > 50 || format_of(GetParam()).think_open.empty());
}

INSTANTIATE_TEST_SUITE_P(Templates, ReplyStyle, testing::ValuesIn(kTemplates),
                         [](const auto& style) { return fmt::format("style_{}", style.index); });

TEST(ReplyProperty, DamagedRepliesGiveValidEvents) {
  std::mt19937 random(12);
  const size_t rounds = support::mutation_rounds(5000);
  for (size_t run = 0; run < rounds; ++run) {
    ReadSettings settings = random_settings(kTemplates[random() % std::size(kTemplates)], random);
    settings.cut = false;
    const ReadReply reply = read_reply(settings, random_pieces(mutated(random_text(random), random), random));
    ASSERT_TRUE(text::is_valid_utf8(reply.content));
    ASSERT_TRUE(text::is_valid_utf8(reply.reasoning));
    for (const ReadCall& call : reply.calls) ASSERT_TRUE(text::is_valid_utf8(call.arguments));
  }
}

constexpr size_t kHostileBytes = 100'000;

std::string repeated(const std::string& part, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += part;
  return text;
}

// A long text, whole and in pieces of four bytes, of whatever makes a reader look back or wait.
TEST(ReplyProperty, LongHostileRepliesTakeLinearTime) {
  const std::string open = "<tool_call>\n<function=f>\n<parameter=s>\n";
  std::vector<std::string> texts;
  for (const char* part : kParts) texts.push_back(repeated(part, kHostileBytes));
  texts.push_back(repeated(open, kHostileBytes));
  texts.push_back(open + repeated("x ", kHostileBytes));
  texts.push_back(open + repeated("</function>\n", kHostileBytes));
  texts.push_back("<tool_call><function=f><parameter=a>" + repeated("[1,", kHostileBytes));
  texts.push_back("<tool_call>{\"a\":" + repeated("[{\"name\":", kHostileBytes));
  texts.push_back("<tool_call><function=f></function>" + repeated(" ", kHostileBytes));
  for (const std::string& text : texts)
    for (const char* name : {"Qwen3.5-4B", "GLM-4.7-Flash", "meta-llama-Llama-3.1-8B-Instruct"})
      for (const bool in_reasoning : {false, true}) {
        ReadSettings settings{.template_name = name, .tools = kTools, .starts_in_reasoning = in_reasoning};
        settings.stop = {repeated("x ", 60) + "y"};
        const std::clock_t start = std::clock();  // processor time: other programs may run
        read_reply(settings, pieces_of(text, 4));
        read_reply(settings, {text});
        EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC) << name << in_reasoning << " " << Json(text.substr(0, 60));
      }
}

}  // namespace
}  // namespace luce::completion
