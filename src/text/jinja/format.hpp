#pragma once

#include <string_view>

#include "text/jinja/arguments.hpp"
#include "text/jinja/string.hpp"
#include "text/jinja/value.hpp"

namespace luce::text::jinja {

/// How one value is printed into a format: Python's format specification.
struct FormatSpec {
  String fill = String::literal(" ");
  char align = '\0';  // < > ^ or =, none given: by the kind of value
  char sign = '-';    // + - or a blank
  bool alternate = false;
  char grouping = '\0';  // , or _
  Integer width = 0;
  Integer precision = -1;  // below 0: none
  char type = '\0';
};

/// Throws TemplateError if the specification does not suit the value.
void print_formatted(StringBuilder& out, const Value& value, const FormatSpec& spec);

/// format.format(arguments)
String format_braces(Frame& frame, const String& format, const Arguments& arguments);

}  // namespace luce::text::jinja
