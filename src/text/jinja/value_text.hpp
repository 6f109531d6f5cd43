#pragma once

#include <string>
#include <string_view>

#include "text/jinja/value.hpp"

namespace luce::text::jinja {

// Comparison as in Python; nesting is limited, and comparing what has no order is an error.
bool equal(Heap& heap, const Value& a, const Value& b);
/// Negative, zero or positive. `operation` is named in the message.
int order(Heap& heap, const Value& a, const Value& b, std::string_view operation);

// Printing as in Python: str() and repr().
void print(StringBuilder& out, const Value& value);
String to_string(Heap& heap, const Value& value);
void print_repr(StringBuilder& out, const Value& value);
void print_repr(StringBuilder& out, const String& text);
std::string integer_text(Integer value);
std::string real_text(double value);

}  // namespace luce::text::jinja
