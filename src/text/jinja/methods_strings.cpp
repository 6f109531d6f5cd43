#include <algorithm>
#include <array>

#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/format.hpp"
#include "text/jinja/methods.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/string_predicates.hpp"
#include "text/jinja/text_operations.hpp"
#include "text/jinja/text_search.hpp"
#include "text/jinja/value_text.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

struct Entry {
  std::string_view name;
  Method method;
};

std::optional<String> optional_text(const Arguments& arguments, size_t index, std::string_view name) {
  const Value* found = arguments.find(index, name);
  if (found == nullptr || found->is_none()) return std::nullopt;
  return to_text(*found, name);
}

template <Casing casing>
Value change(Frame& frame, const Value& self, Arguments&) {
  return change_case(frame.heap(), self.string(), casing);
}

template <Side side>
Value strip_method(Frame& frame, const Value& self, Arguments& arguments) {
  return strip(frame.heap(), self.string(), optional_text(arguments, 0, "chars"), side);
}

template <Side text_side>
Value justify(Frame& frame, const Value& self, Arguments& arguments) {
  const String fill = arguments.string(1, "fillchar", String::literal(" "));
  return pad(frame.heap(), self.string(), to_integer(arguments.need(0, "width"), "width"), fill, text_side);
}

Value zero_fill(Frame& frame, const Value& self, Arguments& arguments) {
  Heap& heap = frame.heap();
  const Integer width = to_integer(arguments.need(0, "width"), "width");
  const String& text = self.string();
  const bool is_signed = !text.empty() && (text.view()[0] == '-' || text.view()[0] == '+');
  if (!is_signed) return pad(heap, text, width, String::literal("0"), Side::right);
  const String digits = slice(heap, text, 1, text.size());
  return concatenate(heap, slice(heap, text, 0, 1), pad(heap, digits, width - 1, String::literal("0"), Side::right));
}

template <bool from_right>
Value split_method(Frame& frame, const Value& self, Arguments& arguments) {
  const auto separator = optional_text(arguments, 0, "sep");
  const Integer most = arguments.integer(1, "maxsplit", -1);
  auto parts = from_right ? split_from_right(frame.heap(), self.string(), separator, most)
                          : split(frame.heap(), self.string(), separator, most);
  return make_list(frame.heap(), std::move(parts));
}

Value split_lines_method(Frame& frame, const Value& self, Arguments& arguments) {
  return make_list(frame.heap(), split_lines(frame.heap(), self.string(), arguments.boolean(0, "keepends", false)));
}

template <bool from_right>
Value partition(Frame& frame, const Value& self, Arguments& arguments) {
  Heap& heap = frame.heap();
  const String& text = self.string();
  const String& separator = to_text(arguments.need(0, "sep"), "sep");
  if (separator.empty()) raise("empty separator");
  const size_t at =
      from_right ? find_last(heap, text.view(), separator.view()) : find_first(heap, text.view(), separator.view());
  std::vector<Value> parts;
  if (at == kNotFound) {
    parts = from_right ? std::vector<Value>{String(), String(), text} : std::vector<Value>{text, String(), String()};
  } else {
    parts = {slice(heap, text, 0, at), separator, slice(heap, text, at + separator.size(), text.size())};
  }
  return make_list(heap, std::move(parts), Flavor::tuple);
}

Value join_method(Frame& frame, const Value& self, Arguments& arguments) {
  const std::vector<Value> items = iterate(frame.heap(), arguments.need(0, "iterable"));
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_string()) raise("sequence item {}: expected str instance, {} found", i, type_name(items[i]));
  }
  return join(frame.heap(), items, self.string());
}

Value replace_method(Frame& frame, const Value& self, Arguments& arguments) {
  const Integer count = arguments.integer(2, "count", -1);
  return replace(frame.heap(), self.string(), to_text(arguments.need(0, "old"), "old"),
                 to_text(arguments.need(1, "new"), "new"), count);
}

/// The part that find and its kin look at, and where it begins in bytes.
struct Part {
  std::string_view text;
  size_t begin = 0;
  bool outside = false;  // begins behind the end
};

Part part_of(Frame& frame, const String& text, const Arguments& arguments) {
  const auto length = static_cast<Integer>(text.length());
  if (!text.is_ascii()) frame.heap().work_on_bytes(4 * text.size());
  const auto bound = [&](size_t index, Integer otherwise) {
    const Value* given = index < arguments.positional.size() ? &arguments.positional[index] : nullptr;
    if (given == nullptr || given->is_none()) return otherwise;
    const Integer at = to_integer(*given, "start");
    return at < 0 ? std::max<Integer>(at + length, 0) : at;
  };
  const Integer begin = bound(1, 0);
  const Integer end = std::min(bound(2, length), length);
  if (begin > length || end < begin) return {{}, 0, true};
  const size_t first = text.offset_of(static_cast<size_t>(begin));
  return {text.view().substr(first, text.offset_of(static_cast<size_t>(end)) - first), first, false};
}

template <bool from_right>
Integer find_in(Frame& frame, const Value& self, const Arguments& arguments) {
  Heap& heap = frame.heap();
  const Part part = part_of(frame, self.string(), arguments);
  const std::string_view needle = to_text(arguments.need(0, "sub"), "sub").view();
  if (part.outside) return -1;
  const size_t at = from_right ? find_last(heap, part.text, needle) : find_first(heap, part.text, needle);
  if (at == kNotFound) return -1;
  const size_t byte = part.begin + at;
  return static_cast<Integer>(self.string().is_ascii() ? byte : count_code_points(self.view().substr(0, byte)));
}

template <bool from_right>
Value find_method_of_text(Frame& frame, const Value& self, Arguments& arguments) {
  return find_in<from_right>(frame, self, arguments);
}

template <bool from_right>
Value index_method(Frame& frame, const Value& self, Arguments& arguments) {
  const Integer at = find_in<from_right>(frame, self, arguments);
  if (at < 0) raise("substring not found");
  return at;
}

Value count_method(Frame& frame, const Value& self, Arguments& arguments) {
  const Part part = part_of(frame, self.string(), arguments);
  const std::string_view needle = to_text(arguments.need(0, "sub"), "sub").view();
  if (part.outside) return 0;
  if (needle.empty()) return count_code_points(part.text) + 1;
  size_t count = 0;
  for (size_t at = 0; (at = find_first(frame.heap(), part.text, needle, at)) != kNotFound; at += needle.size()) {
    frame.heap().work(1);
    ++count;
  }
  return count;
}

template <bool at_end>
Value affix(Frame& frame, const Value& self, Arguments& arguments) {
  const Part part = part_of(frame, self.string(), arguments);
  const Value& wanted = arguments.need(0, at_end ? "suffix" : "prefix");
  const auto fits = [&](const Value& one) {
    const std::string_view text = to_text(one, "prefix").view();
    if (part.outside || text.size() > part.text.size()) return false;
    frame.heap().work_on_bytes(text.size());
    return at_end ? part.text.substr(part.text.size() - text.size()) == text : part.text.substr(0, text.size()) == text;
  };
  if (!wanted.is(Kind::list)) return fits(wanted);
  const auto& options = wanted.list().items();
  return std::any_of(options.begin(), options.end(), fits);
}

template <bool at_end>
Value remove_affix(Frame& frame, const Value& self, Arguments& arguments) {
  const String& text = self.string();
  const std::string_view part = to_text(arguments.need(0, "affix"), "affix").view();
  if (part.size() > text.size()) return text;
  const size_t begin = at_end ? text.size() - part.size() : 0;
  if (text.view().substr(begin, part.size()) != part) return text;
  return at_end ? slice(frame.heap(), text, 0, begin) : slice(frame.heap(), text, part.size(), text.size());
}

Value expand_tabs(Frame& frame, const Value& self, Arguments& arguments) {
  const Integer size = arguments.integer(0, "tabsize", 8);
  StringBuilder out(frame.heap());
  const String& text = self.string();
  Integer column = 0;
  frame.heap().work(text.size() / 8);
  for (size_t at = 0; at < text.size();) {
    const char c = text.view()[at];
    const size_t bytes = utf8_size(c);
    if (c == '\t') {
      const Integer blanks = size > 0 ? size - column % size : 0;
      out.append_times(' ', to_count(blanks));
      column += blanks;
    } else {
      out.append(text, at, at + bytes);
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
    at += bytes;
  }
  return out.finish();
}

Value format_method(Frame& frame, const Value& self, Arguments& arguments) {
  return format_braces(frame, self.string(), arguments);
}

template <TextPredicate predicate>
Value satisfies(Frame& frame, const Value& self, Arguments&) {
  frame.heap().work(self.string().size() / 16);
  return predicate(self.view());
}

constexpr auto kMethods = std::to_array<Entry>({
    {"capitalize", change<Casing::capitalized>},
    {"casefold", change<Casing::folded>},
    {"center", justify<Side::both>},
    {"count", count_method},
    {"endswith", affix<true>},
    {"expandtabs", expand_tabs},
    {"find", find_method_of_text<false>},
    {"format", format_method},
    {"index", index_method<false>},
    {"isalnum", satisfies<is_alphanumeric>},
    {"isalpha", satisfies<is_alphabetic>},
    {"isascii", satisfies<is_ascii_text>},
    {"isdecimal", satisfies<is_decimal>},
    {"isdigit", satisfies<is_digits>},
    {"isidentifier", satisfies<is_identifier>},
    {"islower", satisfies<is_lower_case>},
    {"isnumeric", satisfies<is_numeric>},
    {"isspace", satisfies<is_all_space>},
    {"istitle", satisfies<is_title_case>},
    {"isupper", satisfies<is_upper_case>},
    {"join", join_method},
    {"ljust", justify<Side::left>},
    {"lower", change<Casing::lower>},
    {"lstrip", strip_method<Side::left>},
    {"partition", partition<false>},
    {"removeprefix", remove_affix<false>},
    {"removesuffix", remove_affix<true>},
    {"replace", replace_method},
    {"rfind", find_method_of_text<true>},
    {"rindex", index_method<true>},
    {"rjust", justify<Side::right>},
    {"rpartition", partition<true>},
    {"rsplit", split_method<true>},
    {"rstrip", strip_method<Side::right>},
    {"split", split_method<false>},
    {"splitlines", split_lines_method},
    {"startswith", affix<false>},
    {"strip", strip_method<Side::both>},
    {"swapcase", change<Casing::swapped>},
    {"title", change<Casing::title>},
    {"upper", change<Casing::upper>},
    {"zfill", zero_fill},
});

}  // namespace

Method find_string_method(std::string_view name) {
  const auto found = std::lower_bound(kMethods.begin(), kMethods.end(), name,
                                      [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; });
  return found == kMethods.end() || found->name != name ? nullptr : found->method;
}

}  // namespace luce::text::jinja
