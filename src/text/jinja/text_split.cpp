#include <algorithm>

#include "text/jinja/characters.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/text_operations.hpp"
#include "text/jinja/text_search.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

size_t word_size(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Char step = decode_utf8(text, at);
    if (is_space(step.code_point)) break;
    at += step.size_bytes;
  }
  return at;
}

size_t last_word_size(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    const size_t last = last_character(text.substr(0, end));
    if (is_space(decode_utf8(text, last).code_point)) break;
    end = last;
  }
  return text.size() - end;
}

std::vector<Value> split_at_spaces(Heap& heap, const String& text, Integer most) {
  std::vector<Value> parts;
  const std::string_view view = text.view();
  heap.work_on_bytes(4 * view.size());
  size_t at = leading_spaces(view);
  while (at < view.size() && (most < 0 || static_cast<Integer>(parts.size()) < most)) {
    const size_t size = word_size(view.substr(at));
    parts.push_back(slice(heap, text, at, at + size));
    at += size;
    at += leading_spaces(view.substr(at));
  }
  if (at < view.size()) parts.push_back(slice(heap, text, at, view.size()));  // beyond the limit, as it is
  return parts;
}

std::vector<Value> split_at_spaces_from_right(Heap& heap, const String& text, Integer most) {
  std::vector<Value> parts;
  const std::string_view view = text.view();
  heap.work_on_bytes(4 * view.size());
  size_t end = view.size() - trailing_spaces(view);
  while (end > 0 && (most < 0 || static_cast<Integer>(parts.size()) < most)) {
    const size_t size = last_word_size(view.substr(0, end));
    parts.push_back(slice(heap, text, end - size, end));
    end -= size;
    end -= trailing_spaces(view.substr(0, end));
  }
  if (end > 0) parts.push_back(slice(heap, text, 0, end));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

void require_separator(const std::optional<String>& separator) {
  if (separator && separator->empty()) raise("empty separator");
}

bool ends_line(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

}  // namespace

std::vector<Value> split(Heap& heap, const String& text, const std::optional<String>& separator, Integer most) {
  require_separator(separator);
  if (!separator) return split_at_spaces(heap, text, most);
  std::vector<Value> parts;
  size_t begin = 0;
  while (most < 0 || static_cast<Integer>(parts.size()) < most) {
    heap.work(1);
    const size_t found = find_first(heap, text.view(), separator->view(), begin);
    if (found == kNotFound) break;
    parts.push_back(slice(heap, text, begin, found));
    begin = found + separator->size();
  }
  parts.push_back(slice(heap, text, begin, text.size()));
  return parts;
}

std::vector<Value> split_from_right(Heap& heap, const String& text, const std::optional<String>& separator,
                                    Integer most) {
  require_separator(separator);
  if (!separator) return split_at_spaces_from_right(heap, text, most);
  if (most < 0) return split(heap, text, separator, most);
  std::vector<Value> parts;
  size_t end = text.size();
  while (static_cast<Integer>(parts.size()) < most) {
    const size_t found = find_last(heap, text.view().substr(0, end), separator->view());
    if (found == kNotFound) break;
    parts.push_back(slice(heap, text, found + separator->size(), end));
    end = found;
  }
  parts.push_back(slice(heap, text, 0, end));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Value> split_lines(Heap& heap, const String& text, bool keep_ends) {
  std::vector<Value> lines;
  const std::string_view view = text.view();
  heap.work_on_bytes(4 * view.size());
  size_t begin = 0;
  for (size_t at = 0; at < view.size();) {
    const Utf8Char step = decode_utf8(view, at);
    const size_t line_end = at;
    at += step.size_bytes;
    if (!ends_line(step.code_point)) continue;
    if (step.code_point == '\r' && at < view.size() && view[at] == '\n') ++at;
    lines.push_back(slice(heap, text, begin, keep_ends ? at : line_end));
    begin = at;
  }
  if (begin < view.size()) lines.push_back(slice(heap, text, begin, view.size()));
  return lines;
}

}  // namespace luce::text::jinja
