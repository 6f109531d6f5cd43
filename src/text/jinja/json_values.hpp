#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "text/jinja/string.hpp"
#include "text/jinja/value.hpp"

namespace luce::text::jinja {

/// A JSON value with the origin of its texts; usual names under the key "role" are trusted. Throws TemplateError for
/// nesting deeper than 200.
Value from_json(Heap& heap, const nlohmann::ordered_json& json, Origin origin);

/// How Python's json.dumps writes, with the settings of Hugging Face's `tojson`.
struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<String> indent;  // of one level; nothing: all on one line
  String item_separator = String::literal(", ");
  String key_separator = String::literal(": ");
};

/// Throws TemplateError for what JSON cannot say.
void print_json(StringBuilder& out, const Value& value, const JsonStyle& style);

}  // namespace luce::text::jinja
