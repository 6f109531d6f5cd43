#pragma once

#include <string_view>

namespace luce::text::jinja {

/// What str.isspace() and str.strip() of Python take for white space.
bool is_space(char32_t code_point);

/// Bytes at the begin and end of a valid text that are white space.
size_t leading_spaces(std::string_view text);
size_t trailing_spaces(std::string_view text);

/// Byte offset of the last character of a text that is not empty.
size_t last_character(std::string_view text);

}  // namespace luce::text::jinja
