#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "completion/calls/call_parser.hpp"
#include "completion/text_event.hpp"

namespace luce::completion {

/// What a reply's text is read with.
struct ReplyRules {
  const CallSyntax* calls = nullptr;  // null: no calls, their markup is text
  const ToolSet* tools = nullptr;     // not null
  bool shows_calls = true;            // false: calls are dropped (tool_choice none)
  bool one_call = false;              // the reply ends after its first call
  bool chat = true;                   // false: a text completion, shown byte for byte
  std::string think_open = {};        // empty: no reasoning
  std::string think_close = {};
  bool starts_in_reasoning = false;
  std::vector<std::string> stop = {};
  std::function<std::string()> new_call_id = {};
};

constexpr size_t kStillReasoning = static_cast<size_t>(-1);

/// Turns the text of one reply, in pieces of whole UTF-8, into deltas. What the deltas join to does not depend on how
/// the text was cut.
class ReplyReader {
 public:
  virtual ~ReplyReader() = default;

  /// `token`: with log-probabilities, the token that gave this text.
  virtual std::vector<TextEvent> push(std::string_view text, std::optional<TokenText> token) = 0;
  /// The reply ended; `cut`: by a limit. No Done follows: the caller knows the usage.
  virtual std::vector<TextEvent> finish(bool cut) = 0;

  /// A stop string was found, or the one call that was wanted is complete: nothing more is read.
  virtual bool stopped() const = 0;
  virtual std::string stop_string() const = 0;
  /// The byte of the text before which all is reasoning: 0 if none is, kStillReasoning while it goes on.
  virtual size_t reasoning_end() const = 0;
  virtual bool has_calls() const = 0;
};

/// How a reply ended: a limit counts before calls, and a stop string or end token last.
ReplyEnd reply_end(const ReplyReader& reader, bool cut);

/// "call_" and 24 random letters and digits, or as many as given alone.
std::string random_call_id();
std::string random_letters(int count);

/// Reader of replies with think tags and calls between tags in one text: all models but those of the harmony format.
std::unique_ptr<ReplyReader> make_tag_reader(ReplyRules rules);

/// Reader of the harmony format of gpt-oss: messages on channels, of which "analysis" is reasoning. Its text holds the
/// control tokens. Tags and syntax in the rules are not used.
std::unique_ptr<ReplyReader> make_harmony_reader(ReplyRules rules);

}  // namespace luce::completion
