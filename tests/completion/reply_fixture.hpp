#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "completion/reply/reply_format.hpp"
#include "support/golden_path.hpp"
#include "text/detokenizer.hpp"
#include "text/utf8.hpp"

namespace luce::completion {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<Json> read_cases(const std::string& area) {
  std::ifstream file(support::golden_path("cases/" + area + ".jsonl"));
  std::vector<Json> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(Json::parse(line));
  EXPECT_FALSE(rows.empty()) << area;
  return rows;
}

inline const ReplyFormat& format_of(const std::string& template_name) {
  static std::map<std::string, ReplyFormat> formats;
  const auto found = formats.find(template_name);
  if (found != formats.end()) return found->second;
  const std::string source = read_file(support::golden_path("templates/" + template_name + ".jinja"));
  EXPECT_FALSE(source.empty()) << template_name;
  return formats[template_name] = reply_format_of(source);
}

struct ReadCall {
  std::string id;
  std::string name;
  std::string arguments;
  bool operator==(const ReadCall& other) const { return name == other.name && arguments == other.arguments; }
};

/// A reply put together from its deltas.
struct ReadReply {
  std::string content = {};
  std::string reasoning = {};
  std::vector<ReadCall> calls = {};
  std::string finish_reason = {};
  std::vector<TextEvent> events = {};

  bool operator==(const ReadReply& other) const {
    return content == other.content && reasoning == other.reasoning && calls == other.calls &&
           finish_reason == other.finish_reason;
  }
};

inline void PrintTo(const ReadReply& reply, std::ostream* out) {
  *out << Json(reply.content) << " | " << Json(reply.reasoning) << " | " << reply.finish_reason;
  for (const ReadCall& call : reply.calls) *out << " | " << call.name << call.arguments;
}

inline void add_event(const TextEvent& event, ReadReply& reply) {
  reply.events.push_back(event);
  if (const auto* content = std::get_if<ContentDelta>(&event)) {
    EXPECT_FALSE(content->text.empty());
    reply.content += content->text;
  } else if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) {
    EXPECT_FALSE(reasoning->text.empty());
    reply.reasoning += reasoning->text;
  } else if (const auto* begin = std::get_if<ToolCallBegin>(&event)) {
    EXPECT_EQ(begin->index, static_cast<int>(reply.calls.size()));
    EXPECT_FALSE(begin->id.empty());
    reply.calls.push_back({.id = begin->id, .name = begin->name, .arguments = {}});
  } else if (const auto* arguments = std::get_if<ToolCallArguments>(&event)) {
    ASSERT_EQ(arguments->index, static_cast<int>(reply.calls.size()) - 1);
    reply.calls.back().arguments += arguments->text;
  }
}

/// How replies of a test are read.
struct ReadSettings {
  std::string template_name = "Qwen3.5-4B";
  Json tools = {};
  bool tool_choice_none = false;
  bool one_call = false;
  bool starts_in_reasoning = false;
  bool cut = false;
  bool chat = true;
  std::vector<std::string> stop = {};
};

/// Pieces of bytes through UTF-8 assembly and the reader, as tokens go.
inline ReadReply read_reply(const ReadSettings& settings, const std::vector<std::string>& pieces) {
  const ReplyFormat& format = format_of(settings.template_name);
  const ToolSet tools(settings.tools);
  ReplyRules rules;
  rules.tools = &tools;
  if (!tools.empty()) rules.calls = format.calls.get();
  rules.shows_calls = !settings.tool_choice_none;
  rules.one_call = settings.one_call;
  rules.chat = settings.chat;
  rules.starts_in_reasoning = settings.starts_in_reasoning;
  if (settings.chat) {
    rules.think_open = format.think_open;
    rules.think_close = format.think_close;
  }
  rules.stop = settings.stop;
  rules.new_call_id = format.new_call_id;
  const std::unique_ptr<ReplyReader> reader = make_reply_reader(format, std::move(rules));
  text::Utf8Stream utf8;
  ReadReply reply;
  for (const std::string& piece : pieces) {
    if (reader->stopped()) break;
    for (const TextEvent& event : reader->push(utf8.push(piece), std::nullopt)) add_event(event, reply);
  }
  if (!reader->stopped())
    for (const TextEvent& event : reader->push(utf8.flush(), std::nullopt)) add_event(event, reply);
  const bool cut = settings.cut && !reader->stopped();
  for (const TextEvent& event : reader->finish(cut)) add_event(event, reply);
  reply.finish_reason = finish_reason_name(reply_end(*reader, cut));
  return reply;
}

inline std::vector<std::string> pieces_of(const std::string& text, size_t bytes) {
  std::vector<std::string> pieces;
  for (size_t at = 0; at < text.size(); at += bytes) pieces.push_back(text.substr(at, bytes));
  return pieces;
}

inline std::vector<std::string> random_pieces(const std::string& text, std::mt19937& random) {
  std::vector<std::string> pieces;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = 1 + random() % 8;
    pieces.push_back(text.substr(at, bytes));
    at += bytes;
  }
  return pieces;
}

/// The whole reply; a test failure where it differs from that of any of many ways to cut the text.
inline ReadReply read_every_way(const ReadSettings& settings, const std::string& text) {
  const ReadReply whole = read_reply(settings, {text});
  for (const size_t bytes : {1, 2, 3, 4, 5, 7}) EXPECT_EQ(read_reply(settings, pieces_of(text, bytes)), whole) << text;
  for (size_t at = 1; at < text.size() && at < 600; ++at)
    EXPECT_EQ(read_reply(settings, {text.substr(0, at), text.substr(at)}), whole) << at << ": " << text;
  return whole;
}

}  // namespace luce::completion
