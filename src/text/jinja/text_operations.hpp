#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "text/jinja/string.hpp"
#include "text/jinja/value.hpp"

namespace luce::text::jinja {

// Operations on texts that filters and methods share. Results keep the origin of each byte.

enum class Side : uint8_t { left, right, both };

/// Without white space, or without the characters of `chars`, at its ends.
String strip(Heap& heap, const String& text, const std::optional<String>& chars, Side side);
/// `most` below 0 means all.
String replace(Heap& heap, const String& text, const String& from, const String& to, Integer most);

/// str.split and str.rsplit; without a separator at white space.
std::vector<Value> split(Heap& heap, const String& text, const std::optional<String>& separator, Integer most);
std::vector<Value> split_from_right(Heap& heap, const String& text, const std::optional<String>& separator,
                                    Integer most);
/// str.splitlines
std::vector<Value> split_lines(Heap& heap, const String& text, bool keep_ends);

enum class Casing : uint8_t {
  upper,
  lower,
  capitalized,  // the first character upper, the others lower
  title,        // the first letter of each run of letters upper
  swapped,
  folded,
};
String change_case(Heap& heap, const String& text, Casing casing);

/// Fills up to `width` characters.
String pad(Heap& heap, const String& text, Integer width, const String& fill, Side text_side);

/// Joins what the items print.
String join(Heap& heap, const std::vector<Value>& items, const String& separator);

/// A number as int() and float() read it; nothing if the text is none.
std::optional<Integer> read_integer(std::string_view text, int base);
std::optional<double> read_real(std::string_view text);

}  // namespace luce::text::jinja
