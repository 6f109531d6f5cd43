#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "completion/calls/call_parser.hpp"
#include "completion/reply/reply_reader.hpp"

namespace luce::completion {

/// How a model writes its replies, as its chat template shows.
struct ReplyFormat {
  bool harmony = false;
  std::string think_open = {};  // empty: the model does not reason in tags
  std::string think_close = {};
  std::shared_ptr<const CallSyntax> calls = {};  // never null
  std::vector<std::string> markup_tokens = {};   // control tokens whose text the reader needs; others show nothing
  std::function<std::string()> new_call_id = {};
};

ReplyFormat reply_format_of(std::string_view chat_template);

/// A reader for one reply in this format.
std::unique_ptr<ReplyReader> make_reply_reader(const ReplyFormat& format, ReplyRules rules);

}  // namespace luce::completion
