#include <array>

#include "base/format.hpp"
#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/filters.hpp"
#include "text/jinja/format.hpp"
#include "text/jinja/operators.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/text_operations.hpp"
#include "text/jinja/text_search.hpp"
#include "text/jinja/value_text.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {

String escape_html(Heap& heap, const String& text) {
  StringBuilder out(heap);
  const std::string_view view = text.view();
  size_t kept = 0;
  for (size_t at = view.find_first_of("&<>\"'"); at != std::string_view::npos;
       at = view.find_first_of("&<>\"'", at + 1)) {
    const char c = view[at];
    out.append(text, kept, at);
    out.append(c == '&'   ? "&amp;"
               : c == '<' ? "&lt;"
               : c == '>' ? "&gt;"
               : c == '"' ? "&#34;"
                          : "&#39;",
               text.origin_at(at));
    kept = at + 1;
  }
  out.append(text, kept, view.size());
  return out.finish(true);
}

namespace {

template <Casing casing>
Value change(Frame& frame, const Value& input, Arguments&) {
  return change_case(frame.heap(), to_string(frame.heap(), input), casing);
}

// Jinja2's own rule: a word begins behind white space, a hyphen or an opening bracket.
Value title(Frame& frame, const Value& input, Arguments&) {
  Heap& heap = frame.heap();
  const String text = to_string(heap, input);
  const std::string_view view = text.view();
  StringBuilder out(heap);
  constexpr std::string_view kBreaks = " \t\n\r\f\v-({[<";
  for (size_t at = 0; at < view.size();) {
    const size_t word = std::min(view.find_first_of(kBreaks, at), view.size());
    if (word > at) out.append(change_case(heap, slice(heap, text, at, word), Casing::capitalized));
    const size_t next = std::min(view.find_first_not_of(kBreaks, word), view.size());
    out.append(text, word, next);
    at = next;
  }
  return out.finish();
}

Value trim(Frame& frame, const Value& input, Arguments& arguments) {
  const Value* chars = arguments.find(0, "chars");
  std::optional<String> set;
  if (chars != nullptr && !chars->is_none()) set = to_text(*chars, "chars");
  return strip(frame.heap(), to_string(frame.heap(), input), set, Side::both);
}

Value replace_filter(Frame& frame, const Value& input, Arguments& arguments) {
  Heap& heap = frame.heap();
  const Value* count = arguments.find(2, "count");
  const Integer most = count == nullptr || count->is_none() ? Integer{-1} : to_integer(*count, "count");
  return replace(heap, to_string(heap, input), to_string(heap, arguments.need(0, "old")),
                 to_string(heap, arguments.need(1, "new")), most);
}

Value escape(Frame& frame, const Value& input, Arguments&) {
  const String text = to_string(frame.heap(), input);
  return text.is_markup() ? text : escape_html(frame.heap(), text);
}

Value force_escape(Frame& frame, const Value& input, Arguments&) {
  return escape_html(frame.heap(), to_string(frame.heap(), input));
}

Value safe(Frame& frame, const Value& input, Arguments&) {
  StringBuilder out(frame.heap());
  print(out, input);
  return out.finish(true);
}

Value string(Frame& frame, const Value& input, Arguments&) { return to_string(frame.heap(), input); }

Value repr(Frame& frame, const Value& input, Arguments&) {
  StringBuilder out(frame.heap());
  print_repr(out, input);
  return out.finish();
}

Value format(Frame& frame, const Value& input, Arguments& arguments) {
  Heap& heap = frame.heap();
  if (!arguments.keyword.empty() && !arguments.positional.empty()) {
    raise("can't handle positional and keyword arguments at the same time");
  }
  if (arguments.keyword.empty()) {
    return format_percent(heap, to_string(heap, input), make_list(heap, arguments.positional, Flavor::tuple));
  }
  auto named = std::make_shared<Dict>(heap);
  for (const auto& [name, value] : arguments.keyword) named->set(name, value);
  return format_percent(heap, to_string(heap, input), named);
}

// The end of a tag or comment that begins at `at`, or 0 if none begins there.
size_t tag_end(Heap& heap, std::string_view view, size_t at) {
  if (view[at] != '<') return 0;
  const bool comment = view.compare(at, 4, "<!--") == 0;
  const size_t end = find_first(heap, view, comment ? "-->" : ">", at + 1);
  return end == kNotFound ? 0 : end + (comment ? 3 : 1);
}

Value strip_tags(Frame& frame, const Value& input, Arguments&) {
  Heap& heap = frame.heap();
  const String text = to_string(heap, input);
  StringBuilder kept(heap);
  size_t begin = 0;
  for (size_t at = text.view().find('<'); at != std::string_view::npos; at = text.view().find('<', at)) {
    const size_t end = tag_end(heap, text.view(), at);
    if (end == 0) break;
    kept.append(text, begin, at);
    begin = at = end;
  }
  kept.append(text, begin, text.size());
  String plain = join(heap, split(heap, kept.finish(), std::nullopt, -1), String::literal(" "));
  constexpr std::array<std::array<std::string_view, 2>, 6> kEntities = {
      {{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#34;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}};
  for (const auto& [entity, character] : kEntities) {
    plain = replace(heap, plain, String::literal(std::string(entity)), String::literal(std::string(character)), -1);
  }
  return plain;
}

void quote_url(StringBuilder& out, const String& text, bool query) {
  const std::string_view view = text.view();
  for (size_t at = 0; at < view.size(); ++at) {
    const char c = view[at];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || std::string_view("_.-~").find(c) != std::string_view::npos || (c == '/' && !query)) {
      out.append(text, at, at + 1);
    } else {
      out.append(query && c == ' ' ? "+" : fmt::format("%{:02X}", static_cast<unsigned char>(c)), text.origin_at(at));
    }
  }
}

Value url_encode(Frame& frame, const Value& input, Arguments&) {
  Heap& heap = frame.heap();
  StringBuilder out(heap);
  if (!input.is(Kind::dict) && !input.is(Kind::list)) {
    quote_url(out, to_string(heap, input), false);
    return out.finish();
  }
  std::vector<std::pair<Value, Value>> pairs;
  if (input.is(Kind::dict)) pairs = input.dict().entries();
  if (input.is(Kind::list)) {
    for (const Value& item : iterate(heap, input)) {
      const std::vector<Value> both = iterate(heap, item);
      if (both.size() != 2) raise("urlencode: pairs are required");
      pairs.emplace_back(both[0], both[1]);
    }
  }
  for (const auto& [key, value] : pairs) {
    if (out.size() > 0) out.append("&");
    quote_url(out, to_string(heap, key), true);
    out.append("=");
    quote_url(out, to_string(heap, value), true);
  }
  return out.finish();
}

constexpr auto kFilters = std::to_array<FilterEntry>({
    {"upper", change<Casing::upper>},
    {"lower", change<Casing::lower>},
    {"capitalize", change<Casing::capitalized>},
    {"title", title},
    {"trim", trim},
    {"replace", replace_filter},
    {"e", escape},
    {"escape", escape},
    {"forceescape", force_escape},
    {"safe", safe},
    {"string", string},
    {"pprint", repr},
    {"format", format},
    {"striptags", strip_tags},
    {"urlencode", url_encode},
});

}  // namespace

std::span<const FilterEntry> string_filters() { return kFilters; }

}  // namespace luce::text::jinja
