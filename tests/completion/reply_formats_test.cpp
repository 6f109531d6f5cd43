// Calls and reasoning in the styles of models other than Qwen3.5, each chosen from its chat template.
#include <gtest/gtest.h>

#include "completion/reply_fixture.hpp"

namespace luce::completion {
namespace {

const Json kTools = Json::parse(R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties":
    {"city": {"type": "string"}, "days": {"type": "integer"}}}}},
  {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}}])");

struct Row {
  const char* what;
  std::string text;
  std::string content = {};
  std::vector<ReadCall> calls = {};
  std::string reasoning = {};
  bool in_reasoning = false;
};

ReadCall weather(const std::string& arguments) { return {{}, "get_weather", arguments}; }
ReadCall ping() { return {{}, "ping", "{}"}; }

void check(const std::string& template_name, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(template_name + ": " + row.what);
    ReadSettings settings{.template_name = template_name, .tools = kTools};
    settings.starts_in_reasoning = row.in_reasoning;
    const ReadReply reply = read_every_way(settings, row.text);
    EXPECT_EQ(reply.content, row.content);
    EXPECT_EQ(reply.reasoning, row.reasoning);
    EXPECT_EQ(reply.calls, row.calls);
    EXPECT_EQ(reply.finish_reason, row.calls.empty() ? "stop" : "tool_calls");
  }
}

const char* const kWeather = R"({"name": "get_weather", "arguments": {"city": "Oslo", "days": 2}})";
const char* const kArguments = R"({"city": "Oslo", "days": 2})";

TEST(ReplyFormats, JsonInToolCallTags) {
  const std::string call = std::string("<tool_call>\n") + kWeather + "\n</tool_call>";
  for (const char* name : {"Qwen-Qwen3-0.6B", "NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "Qwen3.5-4B"})
    check(name, {{"one", call, "", {weather(kArguments)}},
                 {"text before", "Let me see.\n" + call, "Let me see.", {weather(kArguments)}},
                 {"two", call + "\n" + call, "", {weather(kArguments), weather(kArguments)}},
                 {"no line breaks", std::string("<tool_call>") + kWeather + "</tool_call>", "", {weather(kArguments)}},
                 {"not closed", std::string("<tool_call>\n") + kWeather, "", {weather(kArguments)}},
                 {"a brace missing",
                  R"(<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}</tool_call>)",
                  "",
                  {weather(R"({"city": "Oslo"})")}},
                 {"arguments first",
                  R"(<tool_call>{"arguments": {"city": "Oslo"}, "name": "get_weather"}</tool_call>)",
                  "",
                  {weather(R"({"city":"Oslo"})")}},
                 {"arguments encoded twice",
                  R"(<tool_call>{"name": "get_weather", "arguments": "{\"city\": \"Oslo\"}"}</tool_call>)",
                  "",
                  {weather(R"({"city": "Oslo"})")}},
                 {"more keys after",
                  R"(<tool_call>{"name": "get_weather", "arguments": {}, "id": "}"}</tool_call>)",
                  "",
                  {weather("{}")}},
                 {"no arguments", R"(<tool_call>{"name": "ping"}</tool_call> ok)", "ok", {ping()}},
                 {"braces in strings",
                  R"(<tool_call>{"name": "get_weather", "arguments": {"city": "}\"]{"}}</tool_call>)",
                  "",
                  {weather(R"({"city": "}\"]{"})")}},
                 {"not JSON", "<tool_call>{oops}</tool_call>", "<tool_call>{oops}</tool_call>"},
                 {"no name", "<tool_call>{\"a\": 1}</tool_call>", "<tool_call>{\"a\": 1}</tool_call>"},
                 {"cut off by itself",
                  R"(<tool_call>{"name": "get_weather", "arguments": {"city": "Os)",
                  "",
                  {weather(R"({"city": "Os"})")}}});
}

TEST(ReplyFormats, ReasoningWithJsonCalls) {
  const std::string call = std::string("<tool_call>\n") + kWeather + "\n</tool_call>";
  check(
      "Qwen-Qwen3-0.6B",
      {{"opened by the model", "<think>\nHm.\n</think>\n\n" + call, "", {weather(kArguments)}, "Hm."},
       {"a call in the reasoning", "Hm.\n" + call + "\n</think>\n\nDone.", "Done.", {weather(kArguments)}, "Hm.", true},
       {"a foreign one stays text",
        "<tool_call>{\"name\": \"x\", \"arguments\": {}}</tool_call></think>Hi",
        "Hi",
        {},
        "<tool_call>{\"name\": \"x\", \"arguments\": {}}</tool_call>",
        true}});
}

TEST(ReplyFormats, KeysAndValuesInTags) {
  for (const char* name : {"GLM-4.7-Flash", "poolside-Laguna-XS.2"})
    check(name,
          {{"GLM",
            "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Oslo</arg_value><arg_key>days</arg_key>"
            "<arg_value>2</arg_value></tool_call>",
            "",
            {weather(R"({"city":"Oslo","days":2})")}},
           {"Laguna",
            "I ask.\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>\n"
            "<tool_call>ping\n</tool_call>\n",
            "I ask.",
            {weather(R"({"city":"Oslo"})"), ping()}},
           {"values keep their space",
            "<tool_call>get_weather<arg_key>city</arg_key><arg_value> a\n</arg_value></tool_call>",
            "",
            {weather(R"({"city":" a\n"})")}},
           {"a word is no call", "The <tool_call> and </tool_call> tags.", "The <tool_call> and </tool_call> tags."},
           {"ended early",
            "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Os",
            "",
            {weather(R"({"city":"Os"})")}},
           {"reasoning", "Hm.</think>Yes.", "Yes.", {}, "Hm.", true}});
}

TEST(ReplyFormats, PlainJson) {
  const std::string call = R"({"name": "get_weather", "parameters": {"city": "Oslo", "days": 2}})";
  check("meta-llama-Llama-3.1-8B-Instruct",
        {{"one", call, "", {weather(kArguments)}},
         {"with a tag", "<|python_tag|>" + call, "", {weather(kArguments)}},
         {"two", call + "; " + R"({"name": "ping", "parameters": {}})", "", {weather(kArguments), ping()}},
         {"only at the start", "See: " + call, "See: " + call},
         {"an answer in JSON", R"({"temperature": 20})", R"({"temperature": 20})"},
         {"a function that is not offered", R"({"name": "Bob", "parameters": {}})",
          R"({"name": "Bob", "parameters": {}})"},
         {"<think> is text", "<think>x</think>", "<think>x</think>"}});
}

TEST(ReplyFormats, Mistral) {
  const std::string list = std::string("[TOOL_CALLS][") + kWeather + R"(, {"name": "ping", "arguments": {}}])";
  check("mistralai-Mistral-Nemo-Instruct-2407",
        {{"a list", list, "", {weather(kArguments), ping()}},
         {"text before", "I ask. " + list, "I ask.", {weather(kArguments), ping()}},
         {"names and arguments",
          std::string("[TOOL_CALLS]get_weather[ARGS]") + kArguments + "[TOOL_CALLS]ping[CALL_ID]abc[ARGS]{}",
          "",
          {weather(kArguments), ping()}},
         {"broken", "[TOOL_CALLS] are fun", "[TOOL_CALLS] are fun"}});
  const ReadReply reply =
      read_reply({.template_name = "mistralai-Mistral-Nemo-Instruct-2407", .tools = kTools}, {list});
  EXPECT_EQ(reply.calls.at(0).id.size(), 9u) << "its template takes no other length";
}

TEST(ReplyFormats, DeepSeek) {
  const std::string begin = "<｜tool▁calls▁begin｜>", one = "<｜tool▁call▁begin｜>", sep = "<｜tool▁sep｜>",
                    end_one = "<｜tool▁call▁end｜>", end = "<｜tool▁calls▁end｜>";
  check(
      "deepseek-ai-DeepSeek-V3.1",
      {{"V3.1",
        "Wait." + begin + one + "get_weather" + sep + kArguments + end_one + one + "ping" + sep + "{}" + end_one + end,
        "Wait.",
        {weather(kArguments), ping()}},
       {"V3 and R1",
        begin + one + "function" + sep + "get_weather\n```json\n" + kArguments + "\n```" + end_one + "\n" + one +
            "function" + sep + "ping\n```json\n{}\n```" + end_one + end + "x",
        "x",
        {weather(kArguments), ping()}},
       {"cut off by itself", one + "get_weather" + sep + "{\"city\": \"O", "", {weather(R"({"city": "O"})")}},
       {"broken", begin + "nothing", begin + "nothing"}});
}

TEST(ReplyFormats, Harmony) {
  check("openai-gpt-oss-120b",
        {{"reasoning and answer",
          "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>",
          "Yes.",
          {},
          "Hm."},
         {"a call",
          "<|channel|>analysis<|message|>Ask.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather "
          "<|constrain|>json<|message|>" +
              std::string(kArguments) + "<|call|>",
          "",
          {weather(kArguments)},
          "Ask."},
         {"recipient before the channel",
          " to=functions.ping<|channel|>commentary json<|message|><|call|>",
          "",
          {ping()}},
         {"a preamble is shown",
          "<|channel|>commentary<|message|>Two steps.<|end|><|start|>assistant<|channel|>commentary "
          "to=functions.ping<|message|>{}",
          "Two steps.",
          {ping()}},
         {"two thoughts",
          "<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>analysis<|message|>B<|end|>",
          "",
          {},
          "A\n\nB"},
         {"no channel at all", "Just text.", "Just text."}});
}

TEST(ReplyFormats, RecoveryOfTaggedCalls) {
  check("Qwen3-Coder",
        {{"without the outer tag", "<function=ping>\n</function>", "", {ping()}},
         {"a foreign one without it stays text", "<function=nope>\n</function>", "<function=nope>\n</function>"},
         {"a parameter not closed at the end of the call",
          "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</function>\n</tool_call>",
          "",
          {weather(R"({"city":"Oslo"})")}},
         {"a closing function tag inside a value",
          "<tool_call><function=get_weather><parameter=city>a</function>\n b</parameter></function></tool_call>",
          "",
          {weather(R"({"city":"a</function>\n b"})")}},
         {"words between parameters",
          "<tool_call><function=get_weather>so <parameter=city>Oslo</parameter> and "
          "<parameter=days>2</parameter></function></tool_call>",
          "<tool_call><function=get_weather>so <parameter=city>Oslo</parameter> and "
          "<parameter=days>2</parameter></function></tool_call>"},
         {"words after the first",
          "<tool_call><function=get_weather><parameter=city>Oslo</parameter> and "
          "<parameter=days>2</parameter></function></tool_call>",
          "",
          {weather(R"({"city":"Oslo","days":2})")}},
         {"never closed",
          "<tool_call><function=get_weather><parameter=city>Oslo</parameter>\nIt asks for the weather.",
          "It asks for the weather.",
          {weather(R"({"city":"Oslo"})")}},
         {"CR LF",
          "<tool_call>\r\n<function=get_weather>\r\n<parameter=city>\r\nOslo\r\n</parameter>\r\n</function>",
          "",
          {weather(R"({"city":"Oslo"})")}},
         {"JSON instead of tags", std::string("<tool_call>") + kWeather + "</tool_call>", "", {weather(kArguments)}},
         {"text after", "<tool_call><function=ping></function></tool_call>\nDone. ", "Done. ", {ping()}}});
}

TEST(ReplyFormats, OneCallEndsTheReply) {
  const std::string two =
      "<tool_call><function=ping></function></tool_call>\n<tool_call><function=ping></function></tool_call> x";
  const ReadReply reply = read_every_way({.tools = kTools, .one_call = true}, two);
  EXPECT_EQ(reply.calls, std::vector<ReadCall>{ping()});
  EXPECT_EQ(reply.content, "");
  const ReadReply list =
      read_every_way({.template_name = "mistralai-Mistral-Nemo-Instruct-2407", .tools = kTools, .one_call = true},
                     R"([TOOL_CALLS][{"name": "ping", "arguments": {}}, {"name": "ping", "arguments": {}}])");
  EXPECT_EQ(list.calls, std::vector<ReadCall>{ping()});
}

TEST(ReplyFormats, WithoutToolsMarkupIsText) {
  const std::string text = "<tool_call>\n<function=ping>\n</function>\n</tool_call>";
  EXPECT_EQ(read_every_way({}, text).content, text);
}

TEST(ReplyFormats, TextCompletionsAreShownByteForByte) {
  const std::string text = "\n\n <think>\nx</think>\n <tool_call> \n";
  EXPECT_EQ(read_every_way({.tools = {}, .chat = false}, text).content, text);
}

}  // namespace
}  // namespace luce::completion
