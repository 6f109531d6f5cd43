#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace luce::text {

enum class Utf8Status : uint8_t {
  valid,
  invalid,     // can become no character, whatever follows
  incomplete,  // the text ends inside a character
};

/// One step through a text. An invalid or incomplete step spans the longest part that could begin a character, as
/// Unicode recommends for U+FFFD, and its code point is U+FFFD.
struct Utf8Char {
  char32_t code_point = 0xFFFD;
  uint8_t size_bytes = 1;
  Utf8Status status = Utf8Status::invalid;
};

/// The character that begins at `at`, which must be inside the text.
Utf8Char decode_utf8(std::string_view text, size_t at);

/// Bytes of the character that begins with `lead` in a text known to be valid.
inline size_t utf8_size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// Appends a code point; surrogates and numbers beyond U+10FFFF become U+FFFD.
void append_utf8(std::string& out, char32_t code_point);

bool is_ascii(std::string_view text);
bool is_valid_utf8(std::string_view text);
/// The text with each invalid part replaced by U+FFFD.
std::string replace_invalid_utf8(std::string_view text);
/// Code points of a valid text.
size_t count_code_points(std::string_view text);

}  // namespace luce::text
