#pragma once

#include "text/jinja/value.hpp"

namespace luce::text::jinja {

enum class Operator : uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power };

/// The value of `a op b` as Python computes it. Throws TemplateError for kinds that do not go together, a division by
/// zero, and integers that outgrow 128 bits.
Value calculate(Heap& heap, Operator op, const Value& a, const Value& b);
Value negate(const Value& value);
Value plus(const Value& value);

/// Text with the characters of HTML escaped, as `escape` and texts marked safe do.
String escape_html(Heap& heap, const String& text);
/// `format % arguments`
String format_percent(Heap& heap, const String& format, const Value& arguments);

}  // namespace luce::text::jinja
