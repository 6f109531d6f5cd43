#include "completion/grammar/schema_keywords.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.hpp"

namespace luce::completion {

namespace {

constexpr int kMostCount = 1'000'000;
constexpr int kMostReferences = 32;

}  // namespace

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
  if (const auto type = schema.find("type"); type != schema.end()) {
    for (const Json& each : type->is_array() ? *type : Json::array({*type})) {
      if (!each.is_string()) refuse_schema(place + "/type", "must be a name of a type or a list of them");
      types.push_back(each);
    }
  } else if (schema.contains("properties") || schema.contains("required") || schema.contains("additionalProperties")) {
    types = {"object"};
  } else if (schema.contains("items") || schema.contains("prefixItems")) {
    types = {"array"};
  } else if (schema.contains("pattern") || schema.contains("minLength") || schema.contains("maxLength")) {
    types = {"string"};
  }
  const bool nullable = schema.value("nullable", Json()) == true;
  if (nullable && !types.empty() && std::find(types.begin(), types.end(), "null") == types.end())
    types.push_back("null");
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
  static constexpr std::array<std::string_view, 11> kRemarks = {"title",    "description", "default", "examples",
                                                                "$schema",  "$id",         "$defs",   "definitions",
                                                                "$comment", "deprecated",  "nullable"};
  return std::any_of(schema.items().begin(), schema.items().end(), [](const auto& item) {
    return std::find(kRemarks.begin(), kRemarks.end(), item.key()) == kRemarks.end();
  });
}

Json merge_schemas(const Json& base, const Json& more, const std::string& place) {
  if (more.is_boolean()) return base;
  if (!more.is_object()) refuse_schema(place, "must be a JSON schema, that is an object");
  Json merged = base;
  for (const auto& [key, value] : more.items()) {
    const bool joins = merged.contains(key) && merged[key].type() == value.type();
    if (key == "properties" && joins && value.is_object())
      merged[key].update(value);
    else if ((key == "required" || key == "allOf") && joins && value.is_array())
      merged[key].insert(merged[key].end(), value.begin(), value.end());
    else
      merged[key] = value;
  }
  return merged;
}

}  // namespace luce::completion
