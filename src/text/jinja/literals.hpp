#pragma once

#include <string>
#include <string_view>

#include "text/jinja/value.hpp"

namespace luce::text::jinja {

struct NumberLiteral {
  size_t size = 0;  // bytes read; 0 if the number is too large
  bool is_real = false;
  Integer integer = 0;
  double real = 0;
};

/// The number at the begin of a text that begins with a digit. Digits may be parted by underscores.
NumberLiteral parse_number(std::string_view text, bool allow_real);

/// The content of a string literal, its escapes resolved as in Python. A broken escape is told in `error`.
std::string unescape(std::string_view text, std::string& error);

}  // namespace luce::text::jinja
