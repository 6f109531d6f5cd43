#pragma once

#include <string_view>

namespace luce::text::jinja {

// str.isalpha() and its kin, for valid texts.
using TextPredicate = bool (*)(std::string_view text);

bool is_alphabetic(std::string_view text);
bool is_alphanumeric(std::string_view text);
bool is_ascii_text(std::string_view text);
bool is_decimal(std::string_view text);
bool is_digits(std::string_view text);
bool is_identifier(std::string_view text);
bool is_lower_case(std::string_view text);
bool is_numeric(std::string_view text);
bool is_all_space(std::string_view text);
bool is_title_case(std::string_view text);
bool is_upper_case(std::string_view text);

}  // namespace luce::text::jinja
