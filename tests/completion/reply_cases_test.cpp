// Every row of the cases on reasoning, tool calls and streaming that gives a model's output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "completion/reply_fixture.hpp"

namespace luce::completion {
namespace {

ReadSettings settings_of(const Json& given) {
  ReadSettings settings;
  settings.tools = given.value("tools", Json());
  settings.tool_choice_none = given.value("tool_choice", Json()) == "none";
  settings.starts_in_reasoning = given.value("starts_in_reasoning", false);
  settings.cut = given.value("stopped_by", std::string()) == "max_tokens";
  settings.stop = given.value("stop", std::vector<std::string>());
  return settings;
}

std::string from_hex(const std::string& hex) {
  std::istringstream words(hex);
  std::string bytes;
  for (std::string word; words >> word;) bytes.push_back(static_cast<char>(std::stoi(word, nullptr, 16)));
  return bytes;
}

std::vector<std::string> pieces_given(const Json& given) {
  if (given.contains("model_output")) return {given["model_output"].get<std::string>()};
  if (given.contains("token_texts")) return given["token_texts"].get<std::vector<std::string>>();
  std::vector<std::string> pieces;
  for (const Json& hex : given["token_bytes_hex"]) pieces.push_back(from_hex(hex.get<std::string>()));
  return pieces;
}

Json calls_json(const ReadReply& reply) {
  Json calls = Json::array();
  for (const ReadCall& call : reply.calls)
    calls.push_back({{"name", call.name}, {"arguments", Json::parse(call.arguments).dump()}});
  return calls;
}

Json expected_calls(const Json& expected) {
  Json calls = Json::array();
  for (const Json& call : expected)
    calls.push_back({{"name", call["function"]["name"]},
                     {"arguments", Json::parse(call["function"]["arguments"].get<std::string>()).dump()}});
  return calls;
}

void check_equals(const std::string& path, const Json& value, const ReadReply& reply) {
  if (path == "message.content")
    EXPECT_EQ(reply.content, value.is_null() ? "" : value.get<std::string>());
  else if (path == "message.reasoning_content")
    EXPECT_EQ(reply.reasoning, value.get<std::string>());
  else if (path == "finish_reason")
    EXPECT_EQ(reply.finish_reason, value.get<std::string>());
  else if (path == "message.tool_calls")
    EXPECT_EQ(calls_json(reply), expected_calls(value));
  else
    EXPECT_EQ(path, "prompt") << "no check for this path";
}

void check(const Json& expected, const ReadReply& reply) {
  if (!expected.is_object() || expected.contains("status")) return;
  if (expected.contains("stream")) return check_equals("message.content", expected["equals"], reply);
  const std::string path = expected["path"];
  if (expected.contains("equals")) return check_equals(path, expected["equals"], reply);
  if (expected.contains("one_of")) {
    EXPECT_EQ(path, "message.content");
    EXPECT_THAT(std::vector<Json>(expected["one_of"]), ::testing::Contains(Json(reply.content)));
    return;
  }
  EXPECT_TRUE(expected.contains("absent"));
  if (path == "message.tool_calls")
    EXPECT_TRUE(reply.calls.empty());
  else if (path == "message.reasoning_content")
    EXPECT_EQ(reply.reasoning, "");
  else
    ADD_FAILURE() << path;
}

bool is_reply_case(const Json& row) {
  const Json& given = row["given"];
  return row["level"] == "unit" && !given.contains("endpoint") &&
         (given.contains("model_output") || given.contains("token_texts") || given.contains("token_bytes_hex"));
}

void check_order(const ReadReply& reply) {
  bool content_began = false;
  std::set<std::string> ids;
  for (const TextEvent& event : reply.events) {
    content_began = content_began || std::holds_alternative<ContentDelta>(event);
    EXPECT_FALSE(content_began && std::holds_alternative<ReasoningDelta>(event)) << "reasoning after content";
    const auto* begin = std::get_if<ToolCallBegin>(&event);
    EXPECT_TRUE(begin == nullptr || ids.insert(begin->id).second);
  }
}

TEST(ReplyCases, EveryRowWithAModelOutput) {
  int rows = 0;
  for (const char* area : {"reasoning", "tool_calls", "streaming"})
    for (const Json& row : read_cases(area)) {
      if (!is_reply_case(row)) continue;
      SCOPED_TRACE(row["id"].get<std::string>());
      ++rows;
      const Json& given = row["given"];
      const ReadSettings settings = settings_of(given);
      const std::vector<std::string> pieces = pieces_given(given);
      std::string whole_text;
      for (const std::string& piece : pieces) whole_text += piece;
      const ReadReply reply = read_every_way(settings, whole_text);
      EXPECT_EQ(read_reply(settings, pieces), reply);
      const bool may_quote_markup = row.dump().find("No streamed content delta") == std::string::npos;
      if (!may_quote_markup) {
        for (const char* markup : {"<tool_call", "<function=", "<parameter="})
          EXPECT_THAT(reply.content, ::testing::Not(::testing::HasSubstr(markup)));
      }
      check_order(read_reply(settings, pieces_of(whole_text, 1)));
      for (const Json& expected : row["expect"]) check(expected, reply);
    }
  EXPECT_EQ(rows, 48);
}

ReadReply read_case(const std::string& area, const std::string& id) {
  for (const Json& row : read_cases(area))
    if (row["id"] == id) {
      std::string text;
      for (const std::string& piece : pieces_given(row["given"])) text += piece;
      return read_reply(settings_of(row["given"]), pieces_of(text, 1));
    }
  ADD_FAILURE() << id;
  return {};
}

TEST(ReplyCases, KeysKeepTheModelsOrder) {
  EXPECT_EQ(read_case("tool_calls", "params-in-reverse-order").calls[0].arguments,
            R"j({"content":"x = 1\nprint(x)","path":"src/a.py"})j");
}

TEST(ReplyCases, LargeIntegersKeepTheirDigits) {
  const ReadReply reply = read_case("tool_calls", "large-integer-keeps-digits");
  EXPECT_THAT(reply.calls.at(0).arguments, ::testing::HasSubstr("9007199254740993"));
  EXPECT_THAT(reply.calls.at(1).arguments, ::testing::HasSubstr("-9223372036854775808"));
}

TEST(ReplyCases, AnUnfinishedCallIsAPrefixOfItsArguments) {
  const ReadReply reply = read_case("tool_calls", "length-inside-arguments");
  ASSERT_EQ(reply.calls.size(), 1u);
  EXPECT_EQ(reply.calls[0].name, "write_file");
  EXPECT_EQ(reply.calls[0].arguments, R"({"path":"big.txt","content":"line 1\nline 2\nli)");
  EXPECT_EQ(reply.content, "");
}

TEST(ReplyCases, AnUnknownFunctionIsHandedOver) {
  const ReadReply reply = read_case("tool_calls", "unknown-function-name-passed");
  EXPECT_EQ(reply.calls.at(0), (ReadCall{{}, "get_tide", R"({"port":"Brest"})"}));
  EXPECT_EQ(reply.content, "OK.");
}

TEST(ReplyCases, InvalidBytesAreReplacedAndTheRestKept) {
  const std::regex expected("A(\xEF\xBF\xBD)+B(\xEF\xBF\xBD){1,2}C(\xEF\xBF\xBD){1,3}D(\xEF\xBF\xBD){1,4}E");
  EXPECT_TRUE(std::regex_match(read_case("streaming", "invalid-bytes-replaced").content, expected));
  EXPECT_THAT(read_case("streaming", "reply-ends-inside-character").content,
              ::testing::AnyOf("ok ", "ok \xEF\xBF\xBD"));
}

TEST(ReplyCases, LocalReferencesInSchemasAreFollowed) {
  for (const Json& row : read_cases("tool_calls")) {
    if (row["id"] != "schema-local-ref") continue;
    const ReadReply reply = read_every_way(settings_of(row["given"]), row["given"]["model_output"]);
    EXPECT_EQ(reply.calls.at(0), (ReadCall{{}, "add_rows", R"({"rows":[{"id": 1}, {"id": 2}]})"}));
  }
}

TEST(ReplyCases, StopStringsForRandomCuts) {
  for (const Json& row : read_cases("streaming")) {
    if (row["id"] != "stop-random-chunkings") continue;
    std::mt19937 random(1);
    const Json& given = row["given"];
    for (const std::string text : given["texts"])
      for (const Json& stops : given["stop_lists"]) {
        ReadSettings settings;
        settings.stop = stops.get<std::vector<std::string>>();
        size_t end = text.size(), first_end = std::string::npos;
        for (const std::string& stop : settings.stop) {
          const size_t found = text.find(stop);
          if (found == std::string::npos || found + stop.size() >= first_end) continue;
          first_end = found + stop.size();
          end = found;
        }
        for (int run = 0; run < given["runs"]; ++run)
          ASSERT_EQ(read_reply(settings, random_pieces(text, random)).content, text.substr(0, end));
      }
  }
}

}  // namespace
}  // namespace luce::completion
