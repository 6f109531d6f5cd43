#include "completion/calls/tool_set.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "base/format.hpp"
#include "completion/reply/incoming.hpp"

namespace luce::completion {

namespace {

constexpr int kMostReferences = 16;
constexpr int kMostVariants = 256;  // looked at for one value, since schemas may refer to themselves

const Json& nothing() {
  static const Json null;
  return null;
}

// Local references only: "#/$defs/name". Null if there is no such place.
const Json& resolve(const Json& schema, const Json& root) {
  const Json* current = &schema;
  for (int i = 0; i < kMostReferences; ++i) {
    if (!current->is_object() || !current->contains("$ref")) return *current;
    const Json& reference = current->at("$ref");
    if (!reference.is_string() || !reference.get_ref<const std::string&>().starts_with("#")) return nothing();
    try {
      const Json::json_pointer pointer(reference.get_ref<const std::string&>().substr(1));
      if (!root.contains(pointer)) return nothing();
      current = &root.at(pointer);
    } catch (const Json::exception&) {
      return nothing();
    }
  }
  return nothing();
}

const char* type_of(const Json& value) {
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  if (value.is_null()) return "null";
  return "object";  // any other is read as JSON
}

void collect_types(const Json& unresolved, const Json& root, int& budget, std::vector<std::string>& types) {
  const Json& schema = resolve(unresolved, root);
  if (!schema.is_object() || --budget < 0) return;
  if (schema.value("nullable", Json()) == true) types.push_back("null");
  if (const auto type = schema.find("type"); type != schema.end()) {
    for (const Json& name : type->is_array() ? *type : Json::array({*type}))
      if (name.is_string()) types.push_back(name);
    return;
  }
  if (schema.contains("const")) return types.push_back(type_of(schema["const"]));
  if (const auto values = schema.find("enum"); values != schema.end() && values->is_array()) {
    for (const Json& value : *values) types.push_back(type_of(value));
    return;
  }
  for (const char* key : {"anyOf", "oneOf", "allOf"})
    if (const auto variants = schema.find(key); variants != schema.end() && variants->is_array())
      for (const Json& variant : *variants) collect_types(variant, root, budget, types);
}

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lowered;
}

std::optional<std::string> as_json(std::string_view text, ValueKind kind) {
  if (kind == ValueKind::boolean) {
    std::string word = lower(text);
    return word == "true" || word == "false" ? std::optional(std::move(word)) : std::nullopt;
  }
  if (kind == ValueKind::text || text == "null" || !Json::accept(text)) return std::nullopt;
  if (kind == ValueKind::unknown && text.front() == '"') return std::nullopt;
  return std::string(text);
}

}  // namespace

ValueRule value_rule(const Json& schema, const Json& root) {
  std::vector<std::string> types;
  int budget = kMostVariants;
  collect_types(schema, root, budget, types);
  ValueRule rule;
  rule.allows_null = std::find(types.begin(), types.end(), "null") != types.end();
  const auto first = std::find_if(types.begin(), types.end(), [](const std::string& type) { return type != "null"; });
  if (first == types.end()) return rule;
  rule.kind = *first == "string" ? ValueKind::text : *first == "boolean" ? ValueKind::boolean : ValueKind::json;
  return rule;
}

ToolSet::ToolSet(const Json& tools) {
  if (!tools.is_array()) return;
  for (const Json& tool : tools) {
    if (!tool.is_object() || !tool.contains("function")) continue;
    const Json& function = tool["function"];
    const std::string name = function.at("name");
    parameters_[name] = function.value("parameters", Json());
    if (function.value("strict", Json()) == true) strict_.insert(name);
  }
}

const Json& ToolSet::parameters(std::string_view function) const {
  const auto found = parameters_.find(function);
  return found == parameters_.end() ? nothing() : found->second;
}

ValueRule ToolSet::rule(std::string_view function, std::string_view parameter) const {
  const Json& root = parameters(function);
  const Json& schema = resolve(root, root);
  if (!schema.is_object()) return {};
  if (const auto properties = schema.find("properties"); properties != schema.end() && properties->is_object())
    if (const auto property = properties->find(std::string(parameter)); property != properties->end())
      return value_rule(*property, root);
  if (const auto others = schema.find("additionalProperties"); others != schema.end()) return value_rule(*others, root);
  return {};
}

std::string value_json(std::string_view text, const ValueRule& rule) {
  std::string_view trimmed = text.substr(0, trimmed_length(text));
  while (!trimmed.empty() && is_space(trimmed.front())) trimmed.remove_prefix(1);
  if (trimmed == "null" && (rule.allows_null || rule.kind == ValueKind::unknown)) return "null";
  if (const std::optional<std::string> json = as_json(trimmed, rule.kind)) return *json;
  return json_quoted(text);
}

std::string json_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '"': escaped += "\\\""; break;
      case '\\': escaped += "\\\\"; break;
      case '\n': escaped += "\\n"; break;
      case '\r': escaped += "\\r"; break;
      case '\t': escaped += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          escaped += fmt::format("\\u{:04x}", c);
        else
          escaped.push_back(c);
    }
  }
  return escaped;
}

}  // namespace luce::completion
