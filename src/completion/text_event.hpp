#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "engine/event.hpp"

namespace luce::completion {

struct TextLogprob {
  std::string bytes = {};  // the token's text, perhaps a part of a character
  float logprob = 0;
};

/// A generated token beside the text it gave; only when log-probabilities were asked for.
struct TokenText {
  TextLogprob chosen = {};
  std::vector<TextLogprob> top = {};
};

/// Texts of deltas are never empty and always whole UTF-8; invalid bytes of the model are U+FFFD.
struct ReasoningDelta {
  std::string text = {};
};

struct ContentDelta {
  std::string text = {};
  std::vector<TokenText> tokens = {};  // those that ended with this text
};

struct ToolCallBegin {
  int index = 0;  // 0, 1, ... in order of appearance
  std::string id = {};
  std::string name = {};
};

struct ToolCallArguments {
  int index = 0;          // that of the latest ToolCallBegin
  std::string text = {};  // a part of the JSON text of the arguments
};

enum class ReplyEnd { stop, length, tool_calls };

struct Usage {
  int prompt_tokens = 0;
  int cached_tokens = 0;
  int completion_tokens = 0;
  int reasoning_tokens = 0;
};

struct Done {
  ReplyEnd end = ReplyEnd::stop;
  std::string stop_string = {};  // the one that ended the reply, empty if none did
  Usage usage = {};
  engine::RequestStats stats = {};
};

struct Failure {
  ErrorKind kind = ErrorKind::internal;
  std::string message = {};
};

/// A reply is any number of deltas, then exactly one Done or Failure.
using TextEvent = std::variant<ReasoningDelta, ContentDelta, ToolCallBegin, ToolCallArguments, Done, Failure>;

/// The names of the OpenAI API: "stop", "length", "tool_calls".
const char* finish_reason_name(ReplyEnd end);

}  // namespace luce::completion
