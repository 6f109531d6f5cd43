#include "text/byte_alphabet.hpp"

#include "text/utf8.hpp"

namespace luce::text {

const ByteAlphabet& ByteAlphabet::instance() {
  static const ByteAlphabet alphabet;
  return alphabet;
}

ByteAlphabet::ByteAlphabet() {
  bytes_.fill(-1);
  char32_t next_free = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool itself = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    const char32_t character = itself ? static_cast<char32_t>(byte) : next_free++;
    append_utf8(characters_[static_cast<size_t>(byte)], character);
    bytes_[character] = byte;
  }
}

std::optional<unsigned char> ByteAlphabet::byte(char32_t character) const {
  if (character >= bytes_.size() || bytes_[character] < 0) return std::nullopt;
  return static_cast<unsigned char>(bytes_[character]);
}

std::string ByteAlphabet::decode(std::string_view token_text) const {
  std::string out;
  out.reserve(token_text.size());
  for (size_t at = 0; at < token_text.size();) {
    const Utf8Char step = decode_utf8(token_text, at);
    const auto mapped = step.status == Utf8Status::valid ? byte(step.code_point) : std::nullopt;
    if (mapped) {
      out.push_back(static_cast<char>(*mapped));
    } else {
      out += token_text.substr(at, step.size_bytes);
    }
    at += step.size_bytes;
  }
  return out;
}

}  // namespace luce::text
