#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "completion/calls/call_parser.hpp"
#include "completion/reply/reply_reader.hpp"
#include "text/vocabulary.hpp"

namespace luce::completion {

/// How a model writes a call; what it is read with understands more.
enum class CallForm { tagged, json, key_values, mistral, deepseek, plain_json, harmony };

/// How a model writes its replies, as its chat template shows.
struct ReplyFormat {
  bool harmony = false;
  std::string think_open = {};  // empty: the model does not reason in tags
  std::string think_close = {};
  CallForm form = CallForm::json;
  std::shared_ptr<const CallSyntax> calls = {};  // never null
  std::vector<std::string> markup_tokens = {};   // control tokens whose text the reader needs; others show nothing
  std::function<std::string()> new_call_id = {};
};

ReplyFormat reply_format_of(std::string_view chat_template);

/// The tokens with these texts, as far as the vocabulary has them.
std::unordered_set<int32_t> token_ids(const std::vector<std::string>& texts, const text::Vocabulary& vocabulary);

/// A reader for one reply in this format.
std::unique_ptr<ReplyReader> make_reply_reader(const ReplyFormat& format, ReplyRules rules);

}  // namespace luce::completion
