#include "text/jinja/characters.hpp"

#include "text/utf8.hpp"

namespace luce::text::jinja {

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

size_t last_character(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (text[at] & 0xC0) == 0x80) --at;
  return at;
}

size_t leading_spaces(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Char step = decode_utf8(text, at);
    if (!is_space(step.code_point)) break;
    at += step.size_bytes;
  }
  return at;
}

size_t trailing_spaces(std::string_view text) {
  size_t size = text.size();
  while (size > 0) {
    const size_t last = last_character(text.substr(0, size));
    if (!is_space(decode_utf8(text, last).code_point)) break;
    size = last;
  }
  return text.size() - size;
}

}  // namespace luce::text::jinja
