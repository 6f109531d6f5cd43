#include "text/jinja/text_operations.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "text/jinja/arguments.hpp"
#include "text/jinja/characters.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/text_search.hpp"
#include "text/jinja/value_text.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

std::u32string code_points(std::string_view text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char step = decode_utf8(text, at);
    out.push_back(step.code_point);
    at += step.size_bytes;
  }
  return out;
}

std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

// Without white space at its ends and without single underscores between digits.
std::string trimmed_digits(std::string_view text) {
  text.remove_prefix(leading_spaces(text));
  text.remove_suffix(trailing_spaces(text));
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool gap = text[i] == '_' && i > 0 && i + 1 < text.size() && text[i - 1] != '_' && text[i + 1] != '_';
    if (!gap) out.push_back(text[i]);
  }
  return out;
}

}  // namespace

String strip(Heap& heap, const String& text, const std::optional<String>& chars, Side side) {
  const std::string_view view = text.view();
  const std::u32string set = chars ? code_points(chars->view()) : std::u32string();
  const auto goes = [&](char32_t c) {
    heap.work(1 + set.size() / 64);
    return chars ? set.find(c) != std::u32string::npos : is_space(c);
  };
  size_t begin = 0;
  size_t end = view.size();
  while (side != Side::right && begin < end) {
    const Utf8Char step = decode_utf8(view, begin);
    if (!goes(step.code_point)) break;
    begin += step.size_bytes;
  }
  while (side != Side::left && begin < end) {
    const size_t last = last_character(view.substr(0, end));
    if (!goes(decode_utf8(view, last).code_point)) break;
    end = last;
  }
  return slice(heap, text, begin, end);
}

String replace(Heap& heap, const String& text, const String& from, const String& to, Integer most) {
  StringBuilder out(heap);
  size_t done = 0;  // what lies before is in `out`
  size_t search = 0;
  for (Integer count = 0; most < 0 || count < most; ++count) {
    heap.work(1);
    const size_t found = find_first(heap, text.view(), from.view(), search);
    if (found == kNotFound) break;
    out.append(text, done, found);
    out.append(to);
    done = found + from.size();
    // An empty text is found before each character and at the end.
    search = from.empty() ? (found < text.size() ? found + utf8_size(text.view()[found]) : text.size() + 1) : done;
  }
  if (done == 0 && out.size() == 0) return text;
  out.append(text, done, text.size());
  return out.finish();
}

String pad(Heap& heap, const String& text, Integer width, const String& fill, Side text_side) {
  if (fill.length() != 1) raise("The fill character must be exactly one character long");
  const auto length = static_cast<Integer>(text.length());
  if (width <= length) return text;
  const Integer missing = width - length;
  Integer left = 0;
  if (text_side == Side::right) left = missing;
  if (text_side == Side::both) left = missing / 2 + (missing & width & 1);
  StringBuilder out(heap);
  out.append_times(fill, to_count(left));
  out.append(text);
  out.append_times(fill, to_count(missing - left));
  return out.finish();
}

String join(Heap& heap, const std::vector<Value>& items, const String& separator) {
  StringBuilder out(heap);
  heap.work(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(separator);
    print(out, items[i]);
  }
  return out.finish();
}

std::optional<Integer> read_integer(std::string_view text, int base) {
  const std::string digits = lower_ascii(trimmed_digits(text));
  size_t at = !digits.empty() && (digits[0] == '-' || digits[0] == '+') ? 1 : 0;
  const bool negative = at == 1 && digits[0] == '-';
  const auto prefix = [&](std::string_view mark, int its_base) {
    if ((base == its_base || base == 0) && digits.compare(at, 2, mark) == 0 && digits.size() > at + 2) {
      base = its_base;
      at += 2;
    }
  };
  prefix("0x", 16);
  prefix("0o", 8);
  prefix("0b", 2);
  if (base == 0) base = 10;
  if (at == digits.size() || base < 2 || base > 36) return std::nullopt;
  Integer value = 0;
  for (; at < digits.size(); ++at) {
    const char c = digits[at];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
    if (digit >= base) return std::nullopt;
    if (__builtin_mul_overflow(value, Integer{base}, &value) || __builtin_add_overflow(value, Integer{digit}, &value)) {
      raise("an integer of the template is too large");
    }
  }
  return negative ? -value : value;
}

std::optional<double> read_real(std::string_view text) {
  std::string digits = lower_ascii(trimmed_digits(text));
  const bool negative = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.erase(0, 1);
  double value = 0;
  if (digits == "inf" || digits == "infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (digits == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (digits.empty() || (digits[0] != '.' && (digits[0] < '0' || digits[0] > '9'))) return std::nullopt;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (read.ptr != digits.data() + digits.size() || read.ec == std::errc::invalid_argument) return std::nullopt;
    if (read.ec == std::errc::result_out_of_range) value = std::numeric_limits<double>::infinity();
  }
  return negative ? -value : value;
}

}  // namespace luce::text::jinja
