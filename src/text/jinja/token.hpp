#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/jinja/value.hpp"

namespace luce::text::jinja {

/// A place in the source, counted from 1; columns count bytes.
struct Position {
  uint32_t line = 1;
  uint32_t column = 1;
};

enum class TokenKind : uint8_t {
  data,            // template text
  block_begin,     // {%
  block_end,       // %}
  variable_begin,  // {{
  variable_end,    // }}
  name,
  string,
  integer,
  real,
  op,   // operators and brackets, by their text
  end,  // of the template
};

struct Token {
  TokenKind kind = TokenKind::end;
  Position at;
  std::string text;  // of data, name and op; a string without quotes and escapes
  Integer integer = 0;
  double real = 0;
};

/// A parse error, with its place.
[[noreturn]] void raise_at(Position at, const std::string& message);
/// "line 3, column 7"
std::string describe(Position at);

/// Cuts a template into tokens as Jinja2 does with trim_blocks and lstrip_blocks on. Throws TemplateError.
std::vector<Token> tokenize(const std::string& source);

}  // namespace luce::text::jinja
