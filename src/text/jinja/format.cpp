#include "text/jinja/format.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/text_operations.hpp"
#include "text/jinja/value_text.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

constexpr Integer kMaxPrecision = 1000;

std::string digits_in_base(unsigned __int128 value, unsigned base, bool upper) {
  const char* digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string out;
  do {
    out.push_back(digits[static_cast<size_t>(value % base)]);
    value /= base;
  } while (value != 0);
  std::reverse(out.begin(), out.end());
  return out;
}

std::string grouped(const std::string& digits, char mark, size_t size) {
  const size_t whole = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  std::string out;
  for (size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % size == 0) out.push_back(mark);
    out.push_back(digits[i]);
  }
  return out + digits.substr(whole);
}

std::string real_digits(double value, const FormatSpec& spec) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : "inf";
  if (spec.precision > kMaxPrecision) raise("precision too big");
  const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
  const std::string alternate = spec.alternate ? "#" : "";
  switch (spec.type) {
    case 'f':
    case 'F': return fmt::format(fmt::runtime("{:" + alternate + ".{}f}"), value, precision);
    case '%': return fmt::format("{:.{}f}%", value * 100, precision);
    case 'e':
    case 'E':
    case 'g':
    case 'G':
      return fmt::format(fmt::runtime("{:" + alternate + ".{}" + spec.type + "}"), value,
                         precision == 0 && (spec.type | 0x20) == 'g' ? 1 : precision);
    case '\0':
      if (spec.precision < 0) return real_text(value);
      return fmt::format("{:.{}g}", value, std::max(precision, 1));
    default: raise("Unknown format code '{}' for object of type 'float'", spec.type);
  }
}

bool is_real_type(char type) {
  return type != '\0' && std::string_view("eEfFgG%").find(type) != std::string_view::npos;
}

std::string integer_digits(Integer value, const FormatSpec& spec, std::string& prefix) {
  const auto size = value < 0 ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  switch (spec.type) {
    case '\0':
    case 'd':
    case 'n': return digits_in_base(size, 10, false);
    case 'b': prefix = "0b"; return digits_in_base(size, 2, false);
    case 'o': prefix = "0o"; return digits_in_base(size, 8, false);
    case 'x': prefix = "0x"; return digits_in_base(size, 16, false);
    case 'X': prefix = "0X"; return digits_in_base(size, 16, true);
    default: raise("Unknown format code '{}' for object of type 'int'", spec.type);
  }
}

String character(Integer code_point) {
  if (code_point < 0 || code_point > 0x10FFFF) raise("%c arg not in range(0x110000)");
  std::string text;
  append_utf8(text, static_cast<char32_t>(code_point));
  return String::literal(std::move(text));
}

void print_padded(StringBuilder& out, const String& text, const FormatSpec& spec, char otherwise) {
  const char align = spec.align == '\0' ? otherwise : spec.align;
  const Side side = align == '<' ? Side::left : align == '^' ? Side::both : Side::right;
  out.append(pad(out.heap(), text, spec.width, spec.fill, side));
}

void print_number(StringBuilder& out, const Value& value, const FormatSpec& spec) {
  std::string prefix;
  const bool real = value.is(Kind::real) || is_real_type(spec.type);
  const bool negative = real ? std::signbit(value.as_real()) : value.integer() < 0;
  if (!real && spec.precision >= 0) raise("Precision not allowed in integer format specifier");
  std::string digits =
      real ? real_digits(std::abs(value.as_real()), spec) : integer_digits(value.integer(), spec, prefix);
  if (!spec.alternate) prefix.clear();
  if (spec.grouping != '\0') digits = grouped(digits, spec.grouping, prefix.empty() ? 3 : 4);
  const std::string sign = negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
  const std::string head = sign + prefix;
  if (spec.align != '=') return print_padded(out, make_string(out.heap(), head + digits), spec, '>');
  out.append(head);
  FormatSpec rest = spec;
  rest.align = '>';
  rest.width = spec.width - static_cast<Integer>(head.size());
  print_padded(out, make_string(out.heap(), digits), rest, '>');
}

}  // namespace

void print_formatted(StringBuilder& out, const Value& value, const FormatSpec& spec) {
  if (spec.type == 'c' && value.is_integer()) return print_padded(out, character(value.integer()), spec, '<');
  const bool plain_bool = value.is(Kind::boolean) && spec.type == '\0';
  if (value.is_number() && spec.type != 's' && !plain_bool) return print_number(out, value, spec);
  if (spec.type != '\0' && spec.type != 's') {
    raise("Unknown format code '{}' for object of type '{}'", spec.type, type_name(value));
  }
  String text = to_string(out.heap(), value);
  if (spec.precision >= 0) text = slice(out.heap(), text, 0, text.offset_of(to_count(spec.precision)));
  print_padded(out, text, spec, '<');
}

}  // namespace luce::text::jinja
