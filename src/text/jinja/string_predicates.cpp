#include "text/jinja/string_predicates.hpp"

#include <utf8proc.h>

#include "text/jinja/characters.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool is_letter(char32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}
bool is_upper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU; }
bool is_title(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }
bool is_lower(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LL || c == 0xAA || c == 0xBA; }
bool is_decimal_digit(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_digit(char32_t c) {
  const bool raised = c == 0xB2 || c == 0xB3 || c == 0xB9 || c == 0x2070 || (c >= 0x2074 && c <= 0x2079) ||
                      (c >= 0x2080 && c <= 0x2089) || (c >= 0x2460 && c <= 0x2468);
  return raised || is_decimal_digit(c);
}
bool is_number(char32_t c) {
  const auto kind = category(c);
  return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_NO;
}

// True if the text is not empty and all characters satisfy `test`.
template <typename Test>
bool all(std::string_view text, Test test) {
  for (size_t at = 0; at < text.size();) {
    const Utf8Char step = decode_utf8(text, at);
    if (!test(step.code_point)) return false;
    at += step.size_bytes;
  }
  return !text.empty();
}

// True if some letter is of the wanted case and none of the others.
template <typename Wanted, typename Other>
bool in_case(std::string_view text, Wanted wanted, Other other) {
  bool any = false;
  const bool clean = all(text, [&](char32_t c) {
    any = any || wanted(c);
    return !other(c) && !is_title(c);
  });
  return clean && any;
}

}  // namespace

bool is_alphabetic(std::string_view text) { return all(text, is_letter); }
bool is_alphanumeric(std::string_view text) {
  return all(text, [](char32_t c) { return is_letter(c) || is_number(c); });
}
bool is_ascii_text(std::string_view text) { return text::is_ascii(text); }
bool is_decimal(std::string_view text) { return all(text, is_decimal_digit); }
bool is_digits(std::string_view text) { return all(text, is_digit); }
bool is_numeric(std::string_view text) { return all(text, is_number); }
bool is_all_space(std::string_view text) { return all(text, is_space); }
bool is_lower_case(std::string_view text) { return in_case(text, is_lower, is_upper); }
bool is_upper_case(std::string_view text) { return in_case(text, is_upper, is_lower); }

bool is_identifier(std::string_view text) {
  bool first = true;
  return all(text, [&](char32_t c) {
    const bool fits = is_letter(c) || c == '_' || (!first && is_decimal_digit(c));
    first = false;
    return fits;
  });
}

bool is_title_case(std::string_view text) {
  bool any = false;
  bool after_cased = false;
  const bool fits = all(text, [&](char32_t c) {
    const bool big = is_upper(c) || is_title(c);
    const bool small = is_lower(c);
    const bool wrong = (big && after_cased) || (small && !after_cased);
    after_cased = big || small;
    any = any || after_cased;
    return !wrong;
  });
  return fits && any;
}

}  // namespace luce::text::jinja
