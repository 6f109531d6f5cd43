#include "text/jinja/json_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.hpp"
#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/value_text.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

constexpr int kMaxNesting = 200;

Value read(Heap& heap, const nlohmann::ordered_json& json, Origin origin, int depth);

Value read_string(Heap& heap, const std::string& text, Origin origin) {
  if (is_valid_utf8(text)) return make_string(heap, text, origin);
  return make_string(heap, replace_invalid_utf8(text), origin);
}

Value read_array(Heap& heap, const nlohmann::ordered_json& json, Origin origin, int depth) {
  std::vector<Value> items;
  items.reserve(json.size());
  for (const auto& item : json) items.push_back(read(heap, item, origin, depth + 1));
  return make_list(heap, std::move(items));
}

// Some templates build a control token around the role. The usual roles are no text of the client's making.
bool is_known_role(const std::string& key, const nlohmann::ordered_json& item) {
  constexpr std::array<std::string_view, 9> kRoles = {"system", "developer", "user",    "assistant",  "tool",
                                                      "model",  "function",  "ipython", "environment"};
  if (key != "role" || !item.is_string()) return false;
  return std::find(kRoles.begin(), kRoles.end(), item.get_ref<const std::string&>()) != kRoles.end();
}

Value read_object(Heap& heap, const nlohmann::ordered_json& json, Origin origin, int depth) {
  auto dict = std::make_shared<Dict>(heap);
  for (const auto& [key, item] : json.items()) {
    const Origin origin_of_item = is_known_role(key, item) ? Origin::trusted : origin;
    dict->set(read_string(heap, key, origin), read(heap, item, origin_of_item, depth + 1));
  }
  return dict;
}

Value read(Heap& heap, const nlohmann::ordered_json& json, Origin origin, int depth) {
  heap.work(1);
  if (depth > kMaxNesting) raise("the input is nested more than {} deep", kMaxNesting);
  switch (json.type()) {
    case nlohmann::json::value_t::boolean: return json.get<bool>();
    case nlohmann::json::value_t::number_integer: return Integer{json.get<int64_t>()};
    case nlohmann::json::value_t::number_unsigned: return Integer{json.get<uint64_t>()};
    case nlohmann::json::value_t::number_float: return json.get<double>();
    case nlohmann::json::value_t::string: return read_string(heap, json.get_ref<const std::string&>(), origin);
    case nlohmann::json::value_t::array: return read_array(heap, json, origin, depth);
    case nlohmann::json::value_t::object: return read_object(heap, json, origin, depth);
    default: return None{};
  }
}

class Writer {
 public:
  Writer(StringBuilder& out, const JsonStyle& style) : out_(out), style_(style) {}

  void write(const Value& value, int depth) {
    out_.heap().work(1);
    if (depth > kMaxNesting) raise("values nested more than {} deep cannot be written as JSON", kMaxNesting);
    switch (value.kind()) {
      case Kind::none: return out_.append("null");
      case Kind::boolean: return out_.append(value.boolean() ? "true" : "false");
      case Kind::integer: return out_.append(integer_text(value.integer()));
      case Kind::real: return write_real(value.real());
      case Kind::string: return write_string(value.string());
      case Kind::list: return write_list(value, depth);
      case Kind::dict: return write_dict(value.dict(), depth);
      case Kind::undefined:
      case Kind::object: raise("Object of type {} is not JSON serializable", type_name(value));
    }
  }

 private:
  void write_real(double real) {
    if (std::isnan(real)) return out_.append("NaN");
    if (std::isinf(real)) return out_.append(real < 0 ? "-Infinity" : "Infinity");
    out_.append(real_text(real));
  }

  std::string escape_of(char32_t code_point) const {
    switch (code_point) {
      case '"': return "\\\"";
      case '\\': return "\\\\";
      case '\n': return "\\n";
      case '\r': return "\\r";
      case '\t': return "\\t";
      case '\f': return "\\f";
      case '\b': return "\\b";
      default: break;
    }
    const auto number = static_cast<uint32_t>(code_point);
    if (number >= 0x20 && (number < 0x7F || !style_.ensure_ascii)) return {};
    if (number == 0x7F) return {};
    if (number < 0x10000) return fmt::format("\\u{:04x}", number);
    return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((number - 0x10000) >> 10),
                       0xDC00 + ((number - 0x10000) & 0x3FF));
  }

  void write_string(const String& text) {
    const std::string_view view = text.view();
    out_.append("\"");
    size_t kept = 0;  // begin of the part that is copied as it is
    for (size_t at = 0; at < view.size();) {
      const Utf8Char step = decode_utf8(view, at);
      const std::string escape = escape_of(step.code_point);
      if (!escape.empty()) {
        out_.append(text, kept, at);
        out_.append(escape, text.origin_at(at));
        kept = at + step.size_bytes;
      }
      at += step.size_bytes;
    }
    out_.append(text, kept, view.size());
    out_.append("\"");
  }

  void break_line(int depth) {
    if (!style_.indent) return;
    out_.append("\n");
    out_.append_times(*style_.indent, static_cast<size_t>(depth));
  }

  void write_list(const Value& value, int depth) {
    const List& list = value.list();
    if (list.flavor() != Flavor::list && list.flavor() != Flavor::tuple) {
      raise("Object of type {} is not JSON serializable", type_name(value));
    }
    out_.append("[");
    for (size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out_.append(style_.item_separator);
      break_line(depth + 1);
      write(list.items()[i], depth + 1);
    }
    if (list.size() > 0) break_line(depth);
    out_.append("]");
  }

  void write_key(const Value& key) {
    switch (key.kind()) {
      case Kind::string: return write_string(key.string());
      case Kind::none:
      case Kind::boolean:
      case Kind::integer:
      case Kind::real:
        out_.append("\"");
        write(key, 0);
        return out_.append("\"");
      default: raise("keys must be str, int, float, bool or None, not {}", type_name(key));
    }
  }

  std::vector<Dict::Entry> entries_of(const Dict& dict) const {
    std::vector<Dict::Entry> entries = dict.entries();
    if (!style_.sort_keys) return entries;
    std::stable_sort(entries.begin(), entries.end(), [this](const Dict::Entry& a, const Dict::Entry& b) {
      return order(out_.heap(), a.first, b.first, "<") < 0;
    });
    return entries;
  }

  void write_dict(const Dict& dict, int depth) {
    out_.append("{");
    bool first = true;
    for (const auto& [key, value] : entries_of(dict)) {
      if (!first) out_.append(style_.item_separator);
      first = false;
      break_line(depth + 1);
      write_key(key);
      out_.append(style_.key_separator);
      write(value, depth + 1);
    }
    if (!first) break_line(depth);
    out_.append("}");
  }

  StringBuilder& out_;
  const JsonStyle& style_;
};

}  // namespace

Value from_json(Heap& heap, const nlohmann::ordered_json& json, Origin origin) { return read(heap, json, origin, 0); }

void print_json(StringBuilder& out, const Value& value, const JsonStyle& style) { Writer(out, style).write(value, 0); }

}  // namespace luce::text::jinja
