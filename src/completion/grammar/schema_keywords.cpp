#include "completion/grammar/schema_keywords.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>

#include "base/error.hpp"

namespace luce::completion {

namespace {

constexpr int kMostCount = 1'000'000;
constexpr int kMostReferences = 32;

constexpr KeywordUse kRemark = KeywordUse::remark, kEnforced = KeywordUse::enforced, kRefused = KeywordUse::refused;

constexpr SchemaKeyword kKeywords[] = {
    // core
    {"$schema", kRemark},
    {"$id", kRemark},
    {"$anchor", kRemark},
    {"$vocabulary", kRemark},
    {"$comment", kRemark},
    {"$defs", kRemark},
    {"definitions", kRemark},
    {"$dynamicAnchor", kRemark},
    {"$recursiveAnchor", kRemark},
    {"$ref", kEnforced},
    {"$dynamicRef", kRefused},
    {"$recursiveRef", kRefused},
    // applicators
    {"allOf", kEnforced},
    {"anyOf", kEnforced},
    {"oneOf", kEnforced},
    {"not", kRefused},
    {"if", kRefused},
    {"then", kRemark},  // without "if"
    {"else", kRemark},
    {"dependentSchemas", kEnforced},
    {"dependencies", kEnforced},
    {"properties", kEnforced},
    {"patternProperties", kEnforced},
    {"additionalProperties", kEnforced},
    {"unevaluatedProperties", kEnforced},
    {"propertyNames", kEnforced},
    {"prefixItems", kEnforced},
    {"items", kEnforced},
    {"additionalItems", kEnforced},
    {"unevaluatedItems", kEnforced},
    {"contains", kRefused},
    {"minContains", kRemark},  // without "contains"
    {"maxContains", kRemark},
    // assertions
    {"type", kEnforced},
    {"enum", kEnforced},
    {"const", kEnforced},
    {"multipleOf", kEnforced},
    {"minimum", kEnforced},
    {"maximum", kEnforced},
    {"exclusiveMinimum", kEnforced},
    {"exclusiveMaximum", kEnforced},
    {"minLength", kEnforced},
    {"maxLength", kEnforced},
    {"pattern", kEnforced},
    {"minItems", kEnforced},
    {"maxItems", kEnforced},
    {"uniqueItems", kEnforced},
    {"minProperties", kEnforced},
    {"maxProperties", kEnforced},
    {"required", kEnforced},
    {"dependentRequired", kEnforced},
    {"nullable", kEnforced},
    // remarks; "format" is enforced where pattern_of_format() knows it
    {"format", kEnforced},
    {"title", kRemark},
    {"description", kRemark},
    {"default", kRemark},
    {"examples", kRemark},
    {"example", kRemark},
    {"deprecated", kRemark},
    {"readOnly", kRemark},
    {"writeOnly", kRemark},
    {"contentEncoding", kRemark},
    {"contentMediaType", kRemark},
    {"contentSchema", kRemark},
    {"discriminator", kRemark},
};

struct TypeKeywords {
  std::string_view type;
  std::initializer_list<std::string_view> keywords;
};
const TypeKeywords kKeywordsOfTypes[] = {
    {"object",
     {"properties", "required", "additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames",
      "minProperties", "maxProperties"}},
    {"array", {"items", "prefixItems", "additionalItems", "unevaluatedItems", "minItems", "maxItems", "uniqueItems"}},
    {"string", {"pattern", "minLength", "maxLength"}},
    {"number", {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
};

const SchemaKeyword* keyword_of(std::string_view name) {
  const auto found = std::find_if(std::begin(kKeywords), std::end(kKeywords),
                                  [&](const SchemaKeyword& keyword) { return keyword.name == name; });
  return found == std::end(kKeywords) ? nullptr : found;
}

// Some of what cannot be had says nothing where it stands.
bool has_effect(const SchemaKeyword& keyword, const Json& schema) {
  if (keyword.name == "if") return schema.contains("then") || schema.contains("else");
  if (keyword.name == "not") return schema["not"] != false;
  if (keyword.name == "contains") return schema.value("minContains", Json()) != 0 || schema.contains("maxContains");
  return true;
}

}  // namespace

std::span<const SchemaKeyword> schema_keywords() { return kKeywords; }

const SchemaKeyword* refused_keyword(const Json& schema) {
  for (const auto& [key, value] : schema.items()) {
    const SchemaKeyword* const keyword = keyword_of(key);
    if (keyword != nullptr && keyword->use == KeywordUse::refused && has_effect(*keyword, schema)) return keyword;
  }
  return nullptr;
}

void refuse_schema(const std::string& place, const std::string& what) {
  throw Error(ErrorKind::invalid_request, fmt::format("{} {}", place, what), "response_format");
}

const Json& empty_list() {
  static const Json list = Json::array();
  return list;
}

const Json& list_of(const Json& schema, const std::string& key, const std::string& place) {
  const Json& list = schema.at(key);
  if (!list.is_array() || list.empty()) refuse_schema(place + "/" + key, "must be a list that is not empty");
  return list;
}

int count_of(const Json& schema, const std::string& key, const std::string& place, int otherwise) {
  const auto found = schema.find(key);
  if (found == schema.end() || found->is_null()) return otherwise;
  const bool whole = found->is_number_unsigned() || (found->is_number_integer() && found->get<int64_t>() >= 0);
  if (!whole) refuse_schema(place + "/" + key, "must be a whole number of 0 or more");
  return static_cast<int>(std::min<uint64_t>(found->get<uint64_t>(), kMostCount));
}

std::vector<std::string> types_of(const Json& schema, const std::string& place) {
  std::vector<std::string> types;
  const auto type = schema.find("type");
  if (type != schema.end()) {
    const Json names = type->is_array() ? *type : Json::array({*type});
    for (const Json& each : names) {
      if (!each.is_string()) refuse_schema(place + "/type", "must be a name of a type or a list of them");
      types.push_back(each);
    }
    if (types.empty()) refuse_schema(place + "/type", "must not be an empty list");
    return types;
  }
  for (const auto& [name, keywords] : kKeywordsOfTypes)
    if (std::any_of(keywords.begin(), keywords.end(), [&](std::string_view key) { return schema.contains(key); }))
      types.emplace_back(name);
  return types;
}

std::vector<std::string> required_of(const Json& schema, const std::string& place) {
  std::vector<std::string> names;
  const auto required = schema.find("required");
  if (required == schema.end() || required->is_null()) return names;
  if (!required->is_array()) refuse_schema(place + "/required", "must be a list of names");
  for (const Json& name : *required) {
    if (!name.is_string()) refuse_schema(place + "/required", "must be a list of names");
    names.push_back(name);
  }
  return names;
}

Json properties_with_required(const Json& schema, const std::string& place) {
  Json properties = Json::object();
  if (const auto found = schema.find("properties"); found != schema.end() && !found->is_null()) {
    if (!found->is_object()) refuse_schema(place + "/properties", "must be an object");
    properties = *found;
  }
  for (const std::string& name : required_of(schema, place))
    if (!properties.contains(name)) properties[name] = true;
  return properties;
}

std::string pattern_of_format(const Json& schema) {
  const Json format = schema.value("format", Json());
  const std::string date = "\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])";
  const std::string time = "([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)";
  if (format == "date") return "^" + date + "$";
  if (format == "time") return "^" + time + "$";
  if (format == "date-time") return "^" + date + "T" + time + "$";
  if (format == "email")
    return "^[\\w.!#$%&'*+/"
           "=?^`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+$";
  if (format == "ipv4") return "^(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(\\.(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)){3}$";
  if (format == "uuid") return "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
  return {};
}

const Json& referenced(const Json& root, const std::string& reference, const std::string& place) {
  if (!reference.starts_with("#"))
    refuse_schema(place, fmt::format("has the $ref \"{}\"; only local ones, \"#/...\", are followed", reference));
  try {
    const Json::json_pointer pointer(reference.substr(1));
    if (root.contains(pointer)) return root.at(pointer);
  } catch (const Json::exception&) {
    // not a pointer: as if there were nothing
  }
  refuse_schema(place, fmt::format("has the $ref \"{}\", but there is no such place", reference));
}

const Json& resolve_schema(const Json& schema, const Json& root, const std::string& place) {
  const Json* current = &schema;
  for (int i = 0; i < kMostReferences; ++i) {
    if (!current->is_object() || !current->contains("$ref")) return *current;
    if (!current->at("$ref").is_string()) refuse_schema(place + "/$ref", "must be a string");
    current = &referenced(root, current->at("$ref"), place);
  }
  refuse_schema(place, "has a $ref that leads back to itself");
}

bool has_constraints(const Json& schema) {
  return std::any_of(schema.items().begin(), schema.items().end(), [](const auto& item) {
    const SchemaKeyword* const keyword = keyword_of(item.key());
    return keyword != nullptr && keyword->use != KeywordUse::remark;
  });
}

Json listed_values(const Json& schema, const std::string& place) {
  const bool listed = schema.contains("enum"), constant = schema.contains("const");
  if (!listed && !constant) return nullptr;
  if (!listed) return Json::array({schema["const"]});
  const Json& values = list_of(schema, "enum", place);
  if (!constant) return values;
  const bool holds = std::find(values.begin(), values.end(), schema["const"]) != values.end();
  return holds ? Json::array({schema["const"]}) : Json::array();
}

bool has_type(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  if (type != "integer" || !value.is_number()) return false;
  return value.is_number_integer() || value.get<double>() == std::floor(value.get<double>());
}

}  // namespace luce::completion
