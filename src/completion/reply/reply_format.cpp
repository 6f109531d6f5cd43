#include "completion/reply/reply_format.hpp"

#include <utility>

#include "completion/calls/deepseek_calls.hpp"
#include "completion/calls/mistral_calls.hpp"
#include "completion/calls/plain_json_calls.hpp"
#include "completion/calls/tool_call_tag.hpp"

namespace luce::completion {

namespace {

bool mentions(std::string_view chat_template, std::string_view text) {
  return chat_template.find(text) != std::string_view::npos;
}

ReplyFormat harmony_format() {
  ReplyFormat format{.harmony = true, .form = CallForm::harmony, .calls = std::make_shared<ToolCallTagSyntax>(false)};
  format.markup_tokens = {"<|start|>", "<|channel|>", "<|message|>", "<|constrain|>",
                          "<|end|>",   "<|call|>",    "<|return|>"};
  return format;
}

void choose_calls(std::string_view chat_template, ReplyFormat& format) {
  if (mentions(chat_template, "[TOOL_CALLS]")) {
    format.form = CallForm::mistral;
    format.calls = std::make_shared<MistralSyntax>();
    format.markup_tokens = {"[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"};
    format.new_call_id = [] { return random_letters(9); };  // its template takes no other
  } else if (mentions(chat_template, DeepSeekSyntax::tokens()[0])) {
    format.form = CallForm::deepseek;
    format.calls = std::make_shared<DeepSeekSyntax>();
    format.markup_tokens.assign(DeepSeekSyntax::tokens().begin(), DeepSeekSyntax::tokens().end());
  } else if (mentions(chat_template, "<tool_call>") || !mentions(chat_template, "\"parameters\"")) {
    const bool key_values = mentions(chat_template, "<arg_key>");
    if (mentions(chat_template, "<function=")) format.form = CallForm::tagged;
    if (key_values) format.form = CallForm::key_values;
    format.calls = std::make_shared<ToolCallTagSyntax>(key_values);
    format.markup_tokens = {"<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"};
  } else {
    format.form = CallForm::plain_json;
    format.calls = std::make_shared<PlainJsonSyntax>();
    format.markup_tokens = {"<|python_tag|>"};
  }
}

}  // namespace

ReplyFormat reply_format_of(std::string_view chat_template) {
  ReplyFormat format;
  if (mentions(chat_template, "<|channel|>")) format = harmony_format();
  if (!format.harmony) choose_calls(chat_template, format);
  if (!format.new_call_id) format.new_call_id = random_call_id;
  if (mentions(chat_template, "[THINK]")) {
    format.think_open = "[THINK]";
    format.think_close = "[/THINK]";
  } else if (mentions(chat_template, "</think>")) {
    format.think_open = "<think>";
    format.think_close = "</think>";
  }
  if (format.think_open.empty()) return format;
  format.markup_tokens.push_back(format.think_open);
  format.markup_tokens.push_back(format.think_close);
  return format;
}

std::unordered_set<int32_t> token_ids(const std::vector<std::string>& texts, const text::Vocabulary& vocabulary) {
  std::unordered_set<int32_t> ids;
  for (const std::string& text : texts)
    if (const std::optional<int32_t> id = vocabulary.find(text)) ids.insert(*id);
  return ids;
}

std::unique_ptr<ReplyReader> make_reply_reader(const ReplyFormat& format, ReplyRules rules) {
  return format.harmony ? make_harmony_reader(std::move(rules)) : make_tag_reader(std::move(rules));
}

}  // namespace luce::completion
