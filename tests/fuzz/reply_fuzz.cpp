// libFuzzer: any bytes as a model's reply, in any style; cut in pieces it must read as it does whole.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "completion/reply/reply_format.hpp"
#include "text/utf8.hpp"

namespace {

using namespace luce::completion;

const char* const kTemplates[] = {"<tool_call><function=</think>",
                                  "<tool_call></think>",
                                  "<tool_call><arg_key></think>",
                                  "[TOOL_CALLS]",
                                  "<｜tool▁calls▁begin｜>",
                                  "\"parameters\"",
                                  "<|channel|>"};

const Json& tools() {
  static const Json list = Json::parse(R"([{"type": "function", "function": {"name": "f", "parameters": {"properties":
      {"s": {"type": "string"}, "n": {"type": ["integer", "null"]}, "b": {"type": "boolean"}}}}}])");
  return list;
}

std::string joined(const std::vector<TextEvent>& events) {
  std::string text;
  for (const TextEvent& event : events) {
    if (const auto* content = std::get_if<ContentDelta>(&event)) text += "\1" + content->text;
    if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) text += "\2" + reasoning->text;
    if (const auto* begin = std::get_if<ToolCallBegin>(&event)) text += "\3" + begin->name;
    if (const auto* arguments = std::get_if<ToolCallArguments>(&event)) text += "\4" + arguments->text;
  }
  return text;
}

// The deltas of a reply with the marks of neighbours of one kind joined.
std::string read(const std::string& text, uint8_t options, size_t piece_characters) {
  static const ToolSet tool_set(tools());
  const ReplyFormat format = reply_format_of(kTemplates[options % std::size(kTemplates)]);
  ReplyRules rules;
  rules.calls = format.calls.get();
  rules.tools = &tool_set;
  rules.think_open = format.think_open;
  rules.think_close = format.think_close;
  rules.starts_in_reasoning = options & 0x40;
  rules.new_call_id = [] { return std::string("id"); };
  if (options & 0x20) rules.stop = {"STOP", "\n\n"};
  const auto reader = make_reply_reader(format, std::move(rules));
  std::vector<TextEvent> events;
  const auto add = [&](std::vector<TextEvent> more) {
    for (TextEvent& event : more) events.push_back(std::move(event));
  };
  for (size_t at = 0; at < text.size() && !reader->stopped();) {
    size_t end = at;
    for (size_t i = 0; i < piece_characters && end < text.size(); ++i)
      end += luce::text::decode_utf8(text, end).size_bytes;
    add(reader->push(std::string_view(text).substr(at, end - at), std::nullopt));
    at = end;
  }
  add(reader->finish(options & 0x80));
  std::string all = joined(events), merged;
  for (size_t i = 0, kind = 0; i < all.size(); ++i) {
    const auto mark = static_cast<unsigned char>(all[i]);
    if (mark == 0 || mark > 4 || mark != kind || mark == 3) merged.push_back(all[i]);
    if (mark > 0 && mark <= 4) kind = mark;
  }
  return merged;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  std::string text = luce::text::replace_invalid_utf8({reinterpret_cast<const char*>(data) + 1, size - 1});
  std::erase_if(text, [](char c) { return c > 0 && c <= 4; });
  const std::string whole = read(text, data[0], text.size() + 1);
  for (const size_t piece : {1, 3, 8})
    if (read(text, data[0], piece) != whole) std::abort();
  return 0;
}
