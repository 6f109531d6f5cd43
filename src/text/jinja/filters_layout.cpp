#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "base/format.hpp"
#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/filters.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/text_operations.hpp"
#include "text/jinja/value_text.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

String blanks_or_text(Heap& heap, const Value* width, Integer otherwise) {
  if (width != nullptr && width->is_string()) return width->string();
  StringBuilder out(heap);
  out.append_times(' ', to_count(width == nullptr ? otherwise : to_integer(*width, "width")));
  return out.finish();
}

Value indent(Frame& frame, const Value& input, Arguments& arguments) {
  Heap& heap = frame.heap();
  const String indention = blanks_or_text(heap, arguments.find(0, "width"), 4);
  const bool first = arguments.boolean(1, "first", false);
  const bool blank = arguments.boolean(2, "blank", false);
  require_defined(input);
  if (!input.is_string()) raise("unsupported operand type(s) for +=: '{}' and 'str'", type_name(input));
  const String& text = input.string();
  // One more line end makes the last one count.
  const String ended = concatenate(heap, text, String::literal("\n"));
  const std::vector<Value> lines = split_lines(heap, ended, false);
  StringBuilder out(heap);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append("\n");
    if (i == 0 ? first : blank || !lines[i].string().empty()) out.append(indention);
    out.append(lines[i].string());
  }
  return out.finish();
}

Value center(Frame& frame, const Value& input, Arguments& arguments) {
  const Integer width = arguments.integer(0, "width", 80);
  return pad(frame.heap(), to_string(frame.heap(), input), width, String::literal(" "), Side::both);
}

Value truncate(Frame& frame, const Value& input, Arguments& arguments) {
  Heap& heap = frame.heap();
  if (!length_of(input)) raise("object of type '{}' has no len()", type_name(input));
  const String text = to_string(heap, input);
  const Integer length = std::min(arguments.integer(0, "length", 255), Integer{1} << 60);
  const bool cut_words = arguments.boolean(1, "killwords", false);
  const String end = arguments.string(2, "end", String::literal("..."));
  const Value* leeway = arguments.find(3, "leeway");
  const Integer given = leeway == nullptr || leeway->is_none() ? Integer{5} : to_integer(*leeway, "leeway");
  const Integer slack = std::min(given, Integer{1} << 60);
  const auto end_length = static_cast<Integer>(end.length());
  if (length < end_length) raise("expected length >= {}, got {}", integer_text(end_length), integer_text(length));
  if (slack < 0) raise("expected leeway >= 0, got {}", integer_text(slack));
  if (static_cast<Integer>(text.length()) <= length + slack) return text;
  const String cut = slice(heap, text, 0, text.offset_of(to_count(length - end_length)));
  if (cut_words) return concatenate(heap, cut, end);
  return concatenate(heap, split_from_right(heap, cut, String::literal(" "), 1).front().string(), end);
}

bool is_word_character(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return c == '_' || (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
         (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO);
}

Value word_count(Frame& frame, const Value& input, Arguments&) {
  const String text = to_string(frame.heap(), input);
  frame.heap().work(text.size() / 16);
  size_t count = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char step = decode_utf8(text.view(), at);
    const bool word = is_word_character(step.code_point);
    count += word && !inside ? 1 : 0;
    inside = word;
    at += step.size_bytes;
  }
  return count;
}

/// Fills lines of a paragraph with its words.
class Wrapper {
 public:
  Wrapper(Heap& heap, size_t width, bool break_long) : heap_(heap), width_(width), break_long_(break_long) {}

  std::vector<Value> wrap(const String& paragraph) {
    for (const Value& word : split(heap_, paragraph, std::nullopt, -1)) add(word.string());
    if (length_ > 0) finish_line();
    return std::move(lines_);
  }

 private:
  void add(String word) {
    if (length_ > 0 && length_ + 1 + word.length() > width_) finish_line();
    while (break_long_ && length_ == 0 && word.length() > width_) {
      const size_t cut = word.offset_of(width_);
      lines_.push_back(slice(heap_, word, 0, cut));
      word = slice(heap_, word, cut, word.size());
    }
    if (word.empty()) return;
    line_.push_back(word);
    length_ += word.length() + (length_ > 0 ? 1 : 0);
  }

  void finish_line() {
    lines_.push_back(join(heap_, line_, String::literal(" ")));
    line_.clear();
    length_ = 0;
  }

  Heap& heap_;
  size_t width_;
  bool break_long_;
  std::vector<Value> line_;
  std::vector<Value> lines_;
  size_t length_ = 0;  // of the line, in characters
};

Value word_wrap(Frame& frame, const Value& input, Arguments& arguments) {
  Heap& heap = frame.heap();
  const Integer width = arguments.integer(0, "width", 79);
  if (width <= 0) raise("invalid width {} (must be > 0)", integer_text(width));
  const bool break_long = arguments.boolean(1, "break_long_words", true);
  const Value* given = arguments.find(2, "wrapstring");
  const String line_break =
      given == nullptr || given->is_none() ? String::literal("\n") : to_text(*given, "wrapstring");
  std::vector<Value> paragraphs;
  for (const Value& line : split_lines(heap, to_string(heap, input), false)) {
    paragraphs.push_back(join(heap, Wrapper(heap, to_count(width), break_long).wrap(line.string()), line_break));
  }
  return join(heap, paragraphs, line_break);
}

Value file_size(Frame& frame, const Value& input, Arguments& arguments) {
  const bool binary = arguments.boolean(0, "binary", false);
  double bytes = 0;
  if (input.is_number()) bytes = input.as_real();
  if (input.is_string()) bytes = read_real(input.view()).value_or(0);
  bytes = std::max(bytes, -1e15);
  const double base = binary ? 1024 : 1000;
  if (bytes == 1) return make_string(frame.heap(), "1 Byte");
  if (bytes < base) return make_string(frame.heap(), fmt::format("{} Bytes", static_cast<int64_t>(bytes)));
  constexpr std::array<const char*, 8> kDecimal = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  constexpr std::array<const char*, 8> kBinary = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  double unit = base;
  size_t i = 0;
  for (; i + 1 < kDecimal.size() && bytes >= unit * base; ++i) unit *= base;
  return make_string(frame.heap(), fmt::format("{:.1f} {}", bytes / unit, binary ? kBinary[i] : kDecimal[i]));
}

Value xml_attributes(Frame& frame, const Value& input, Arguments& arguments) {
  Heap& heap = frame.heap();
  require_defined(input);
  if (!input.is(Kind::dict)) raise("xmlattr: a mapping is required, not '{}'", type_name(input));
  StringBuilder out(heap);
  for (const auto& [key, value] : input.dict().entries()) {
    if (value.is_none() || value.is_undefined()) continue;
    if (out.size() > 0 || arguments.boolean(0, "autospace", true)) out.append(" ");
    print(out, key);
    out.append("=\"");
    const String text = to_string(heap, value);
    Arguments none;
    print(out, run_filter(frame, "escape", text, none));
    out.append("\"");
  }
  return out.finish();
}

constexpr auto kFilters = std::to_array<FilterEntry>({
    {"indent", indent},
    {"center", center},
    {"truncate", truncate},
    {"wordcount", word_count},
    {"wordwrap", word_wrap},
    {"filesizeformat", file_size},
    {"xmlattr", xml_attributes},
});

}  // namespace

std::span<const FilterEntry> layout_filters() { return kFilters; }

}  // namespace luce::text::jinja
