#include <utf8proc.h>

#include "base/format.hpp"
#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/value_text.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

constexpr int kMaxNesting = 200;

bool is_printable(char32_t code_point) {
  if (code_point == ' ') return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code_point))) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return false;
    default: return true;
  }
}

// The escape of a character in repr(), empty if it stands for itself.
std::string escape_of(char32_t code_point, char quote) {
  switch (code_point) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    case '\\': return "\\\\";
    default: break;
  }
  if (code_point == static_cast<char32_t>(quote)) return std::string("\\") + quote;
  if (is_printable(code_point)) return {};
  const auto number = static_cast<uint32_t>(code_point);
  if (number < 0x100) return fmt::format("\\x{:02x}", number);
  return number < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

void repr_at(StringBuilder& out, const Value& value, int depth);

void repr_items(StringBuilder& out, const List& list, int depth) {
  bool first = true;
  for (const Value& item : list.items()) {
    if (!first) out.append(", ");
    first = false;
    repr_at(out, item, depth + 1);
  }
}

void repr_list(StringBuilder& out, const List& list, int depth) {
  switch (list.flavor()) {
    case Flavor::list:
      out.append("[");
      repr_items(out, list, depth);
      return out.append("]");
    case Flavor::tuple:
      out.append("(");
      repr_items(out, list, depth);
      return out.append(list.size() == 1 ? ",)" : ")");
    case Flavor::range: {
      const bool empty = list.size() == 0;
      const Integer first = empty ? 0 : list.items().front().integer();
      const Integer last = empty ? 0 : list.items().back().integer() + 1;
      return out.append("range(" + integer_text(first) + ", " + integer_text(last) + ")");
    }
    case Flavor::generator: return out.append("<generator object>");
    case Flavor::keys:
    case Flavor::values:
    case Flavor::items: break;
  }
  out.append(list.flavor() == Flavor::keys     ? "dict_keys(["
             : list.flavor() == Flavor::values ? "dict_values(["
                                               : "dict_items([");
  repr_items(out, list, depth);
  out.append("])");
}

void repr_dict(StringBuilder& out, const Dict& dict, int depth) {
  out.append("{");
  bool first = true;
  for (const auto& [key, value] : dict.entries()) {
    if (!first) out.append(", ");
    first = false;
    repr_at(out, key, depth + 1);
    out.append(": ");
    repr_at(out, value, depth + 1);
  }
  out.append("}");
}

void repr_at(StringBuilder& out, const Value& value, int depth) {
  out.heap().work(1);
  if (depth > kMaxNesting) raise("values nested more than {} deep cannot be printed", kMaxNesting);
  switch (value.kind()) {
    case Kind::undefined: return out.append("Undefined");
    case Kind::none: return out.append("None");
    case Kind::boolean: return out.append(value.boolean() ? "True" : "False");
    case Kind::integer: return out.append(integer_text(value.integer()));
    case Kind::real: return out.append(real_text(value.real()));
    case Kind::string:
      if (!value.string().is_markup()) return print_repr(out, value.string());
      out.append("Markup(");
      print_repr(out, value.string());
      return out.append(")");
    case Kind::list: return repr_list(out, value.list(), depth);
    case Kind::dict: return repr_dict(out, value.dict(), depth);
    case Kind::object: return out.append("<" + std::string(value.object().type_name()) + ">");
  }
}

}  // namespace

void print_repr(StringBuilder& out, const String& text) {
  const std::string_view view = text.view();
  const bool single = view.find('\'') == std::string_view::npos || view.find('"') != std::string_view::npos;
  const char quote = single ? '\'' : '"';
  out.append(std::string_view(&quote, 1));
  size_t kept = 0;  // begin of the part that is copied as it is
  for (size_t at = 0; at < view.size();) {
    const Utf8Char step = decode_utf8(view, at);
    const std::string escape = escape_of(step.code_point, quote);
    if (!escape.empty()) {
      out.append(text, kept, at);
      out.append(escape, text.origin_at(at));
      kept = at + step.size_bytes;
    }
    at += step.size_bytes;
  }
  out.append(text, kept, view.size());
  out.append(std::string_view(&quote, 1));
}

void print_repr(StringBuilder& out, const Value& value) { repr_at(out, value, 0); }

void print(StringBuilder& out, const Value& value) {
  if (value.is_string()) return out.append(value.string());
  if (value.is_undefined()) return;
  print_repr(out, value);
}

String to_string(Heap& heap, const Value& value) {
  if (value.is_string()) return value.string();
  StringBuilder out(heap);
  print(out, value);
  return out.finish();
}

}  // namespace luce::text::jinja
