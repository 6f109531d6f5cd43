#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace luce::text {

/// The alphabet of byte-level vocabularies (GPT-2): each byte is written as one printable character. Bytes 21..7E,
/// A1..AC and AE..FF stand for themselves, the other 68 are counted up from U+0100.
class ByteAlphabet {
 public:
  static const ByteAlphabet& instance();

  /// The character of a byte, in UTF-8.
  const std::string& character(unsigned char byte) const { return characters_[byte]; }
  /// The byte of a character, or nothing if it is none of the alphabet.
  std::optional<unsigned char> byte(char32_t character) const;
  /// Bytes that a token's text stands for; characters outside the alphabet stay as they are.
  std::string decode(std::string_view token_text) const;

 private:
  ByteAlphabet();
  std::array<std::string, 256> characters_;
  std::array<int, 0x144> bytes_{};  // by code point, -1 for none
};

}  // namespace luce::text
