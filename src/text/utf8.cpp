#include "text/utf8.hpp"

#include <algorithm>

namespace luce::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct LeadByte {
  uint8_t size;  // 0: cannot begin a character
  uint8_t low;   // range of the second byte, narrower than 80..BF for overlong forms, surrogates and the end
  uint8_t high;
  uint8_t payload;  // bits of the lead byte
};

LeadByte classify(unsigned char byte) {
  if (byte < 0xC2) return {0, 0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF, static_cast<uint8_t>(byte & 0x1F)};
  if (byte < 0xF0) {
    const auto low = static_cast<uint8_t>(byte == 0xE0 ? 0xA0 : 0x80);
    const auto high = static_cast<uint8_t>(byte == 0xED ? 0x9F : 0xBF);
    return {3, low, high, static_cast<uint8_t>(byte & 0x0F)};
  }
  if (byte > 0xF4) return {0, 0, 0, 0};
  const auto low = static_cast<uint8_t>(byte == 0xF0 ? 0x90 : 0x80);
  const auto high = static_cast<uint8_t>(byte == 0xF4 ? 0x8F : 0xBF);
  return {4, low, high, static_cast<uint8_t>(byte & 0x07)};
}

}  // namespace

Utf8Char decode_utf8(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, 1, Utf8Status::valid};
  const LeadByte lead = classify(first);
  if (lead.size == 0) return {};
  char32_t code_point = lead.payload;
  for (uint8_t i = 1; i < lead.size; ++i) {
    if (at + i >= text.size()) return {0xFFFD, i, Utf8Status::incomplete};
    const auto byte = static_cast<unsigned char>(text[at + i]);
    const unsigned low = i == 1 ? lead.low : 0x80u;
    const unsigned high = i == 1 ? lead.high : 0xBFu;
    if (byte < low || byte > high) return {0xFFFD, i, Utf8Status::invalid};
    code_point = (code_point << 6) | (byte & 0x3Fu);
  }
  return {code_point, lead.size, Utf8Status::valid};
}

void append_utf8(std::string& out, char32_t code_point) {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) code_point = 0xFFFD;
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
  }
  put(0x80 | (code_point & 0x3F));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_valid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Utf8Char step = decode_utf8(text, at);
    if (step.status != Utf8Status::valid) return false;
    at += step.size_bytes;
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char step = decode_utf8(text, at);
    out += step.status == Utf8Status::valid ? text.substr(at, step.size_bytes) : kReplacement;
    at += step.size_bytes;
  }
  return out;
}

size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace luce::text
