#include "text/jinja/literals.hpp"

#include <charconv>
#include <limits>

#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

constexpr Integer kMaxInteger = static_cast<Integer>(~static_cast<unsigned __int128>(0) >> 1);

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Bytes of a run of digits with single underscores between them.
size_t digits(std::string_view text, int base) {
  size_t size = 0;
  while (size < text.size()) {
    const bool gap = size > 0 && text[size] == '_' && size + 1 < text.size() && digit_value(text[size + 1]) < base;
    if (!gap && digit_value(text[size]) >= base) break;
    size += gap ? 2 : 1;
  }
  return size;
}

std::string without_gaps(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '_') out.push_back(c);
  }
  return out;
}

size_t exponent_size(std::string_view text) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
  const size_t sign = text.size() > 1 && (text[1] == '+' || text[1] == '-') ? 1 : 0;
  const size_t size = digits(text.substr(1 + sign), 10);
  return size == 0 ? 0 : 1 + sign + size;
}

size_t real_size(std::string_view text, size_t whole) {
  size_t size = whole;
  if (size < text.size() && text[size] == '.') {
    const size_t fraction = digits(text.substr(size + 1), 10);
    if (fraction > 0) size += 1 + fraction;
  }
  return size + exponent_size(text.substr(size));
}

}  // namespace

NumberLiteral parse_number(std::string_view text, bool allow_real) {
  NumberLiteral number;
  int base = 10;
  size_t begin = 0;
  if (text.size() > 2 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (base != 10 && digits(text.substr(2), base) > 0) begin = 2;
    if (begin == 0) base = 10;
  }
  const size_t whole = digits(text.substr(begin), base);
  const size_t real = base == 10 && allow_real ? real_size(text, whole) : whole;
  if (real > whole) {
    number.is_real = true;
    number.size = real;
    const std::string digits_only = without_gaps(text.substr(0, real));
    const auto read = std::from_chars(digits_only.data(), digits_only.data() + digits_only.size(), number.real);
    if (read.ec == std::errc::result_out_of_range) number.real = std::numeric_limits<double>::infinity();
    return number;
  }
  for (const char c : without_gaps(text.substr(begin, whole))) {
    if (number.integer > (kMaxInteger - digit_value(c)) / base) return {};
    number.integer = number.integer * base + digit_value(c);
  }
  number.size = begin + whole;
  return number;
}

namespace {

struct Unescaper {
  std::string_view text;
  std::string& error;
  std::string out;
  size_t at = 0;

  // Up to `most` digits of a base; fewer than `least` are an error.
  char32_t code(int base, size_t least, size_t most) {
    char32_t value = 0;
    size_t count = 0;
    while (count < most && at < text.size() && digit_value(text[at]) < base) {
      value = value * static_cast<char32_t>(base) + static_cast<char32_t>(digit_value(text[at]));
      ++at;
      ++count;
    }
    if (count < least) error = "a broken escape in this text";
    return value;
  }

  // Two escapes may spell one character as a pair of surrogates.
  char32_t with_low_surrogate(char32_t high) {
    if (high < 0xD800 || high > 0xDBFF || text.substr(at, 2) != "\\u") return high;
    const size_t before = at;
    at += 2;
    const char32_t low = code(16, 4, 4);
    if (low >= 0xDC00 && low <= 0xDFFF) return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    at = before;
    return high;
  }

  void escape(char c) {
    switch (c) {
      case '\n': return;
      case '\\':
      case '\'':
      case '"': return out.push_back(c);
      case 'a': return out.push_back('\a');
      case 'b': return out.push_back('\b');
      case 'f': return out.push_back('\f');
      case 'n': return out.push_back('\n');
      case 'r': return out.push_back('\r');
      case 't': return out.push_back('\t');
      case 'v': return out.push_back('\v');
      case 'x': return append_utf8(out, code(16, 2, 2));
      case 'u': return append_utf8(out, with_low_surrogate(code(16, 4, 4)));
      case 'U': return append_utf8(out, code(16, 8, 8));
      default: break;
    }
    if (c >= '0' && c <= '7') {
      --at;
      return append_utf8(out, code(8, 1, 3));
    }
    out += {'\\', c};
  }

  std::string run() {
    while (at < text.size()) {
      const char c = text[at++];
      if (c == '\\' && at < text.size()) {
        escape(text[at++]);
      } else {
        out.push_back(c);
      }
    }
    return std::move(out);
  }
};

}  // namespace

std::string unescape(std::string_view text, std::string& error) { return Unescaper{text, error, {}, 0}.run(); }

}  // namespace luce::text::jinja
