#include "completion/grammar/schema_merge.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "completion/grammar/schema_keywords.hpp"

namespace luce::completion {

namespace {

constexpr std::array<std::string_view, 6> kLowerBounds = {"minimum",  "exclusiveMinimum", "minLength",
                                                          "minItems", "minProperties",    "minContains"};
constexpr std::array<std::string_view, 6> kUpperBounds = {"maximum",  "exclusiveMaximum", "maxLength",
                                                          "maxItems", "maxProperties",    "maxContains"};
constexpr std::array<std::string_view, 5> kMembers = {"properties", "additionalProperties", "patternProperties",
                                                      "unevaluatedProperties", "required"};

template <typename List>
bool is_among(const List& list, std::string_view key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

Json both(const Json& a, const Json& b) {
  if (a == true || a == b) return b;
  if (b == true) return a;
  if (a == false || b == false) return false;
  return {{"allOf", Json::array({a, b})}};
}

class Merge {
 public:
  Merge(const Json& base, const Json& more, const std::string& place) : base_(base), more_(more), place_(place) {}

  Json result() {
    merged_ = base_;
    for (const auto& [key, value] : more_.items()) {
      if (is_among(kMembers, key)) continue;
      if (key == "enum" || key == "const") continue;
      if (!merged_.contains(key))
        merged_[key] = value;
      else if (merged_[key] != value)
        merged_[key] = joined(key, merged_[key], value);
    }
    const bool nullable = base_.value("nullable", Json()) == true && more_.value("nullable", Json()) == true;
    nullable ? void(merged_["nullable"] = true) : void(merged_.erase("nullable"));
    if (merged_.contains("allOf") && !merged_["allOf"].is_array()) refuse("allOf", "must be a list");
    for (Json& each : apart_) merged_["allOf"].push_back(std::move(each));
    join_values();
    join_members();
    return std::move(merged_);
  }

 private:
  [[noreturn]] void refuse(const std::string& key, const std::string& what) const {
    refuse_schema(place_ + "/" + key, what);
  }

  Json joined(const std::string& key, const Json& a, const Json& b) {
    const bool numbers = a.is_number() && b.is_number();
    if (numbers && is_among(kLowerBounds, key)) return a < b ? b : a;
    if (numbers && is_among(kUpperBounds, key)) return a < b ? a : b;
    if (numbers && key == "multipleOf") return common_multiple(a, b);
    if (key == "type") return common_types(a, b);
    if (key == "uniqueItems") return a == true || b == true;
    if (key == "pattern" || (key == "format" && enforced_formats(a, b)))
      refuse(key, "is given twice with different values, which cannot be enforced together");
    if (key == "items" || key == "prefixItems" || key == "additionalItems" || key == "unevaluatedItems")
      return joined_items(key, a, b);
    if (key == "propertyNames") return both(a, b);
    if (key == "allOf" && a.is_array() && b.is_array()) return concatenated(a, b);
    if (key == "anyOf" || key == "oneOf" || key.starts_with("depend")) apart_.push_back({{key, b}});
    return a;  // a remark
  }

  static Json concatenated(Json a, const Json& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  Json common_multiple(const Json& a, const Json& b) const {
    const bool whole = a.is_number_integer() && b.is_number_integer() && a > 0 && b > 0 && a < 100'000 && b < 100'000;
    if (!whole) refuse("multipleOf", "is given twice with values that cannot be enforced together");
    return std::lcm(a.get<int64_t>(), b.get<int64_t>());
  }

  Json common_types(const Json& a, const Json& b) const {
    const std::vector<std::string> first = types_of({{"type", a}}, place_), second = types_of({{"type", b}}, place_);
    Json types = Json::array();
    for (const std::string& type : first) {
      const bool narrower = type == "integer" && is_among(second, "number");
      if (is_among(second, type) || narrower) types.push_back(type);
      if (type == "number" && !is_among(second, "number") && is_among(second, "integer")) types.push_back("integer");
    }
    if (types.empty()) refuse("type", "and a schema that must hold as well have no type in common");
    return types;
  }

  static bool enforced_formats(const Json& a, const Json& b) {
    return !pattern_of_format({{"format", a}}).empty() && !pattern_of_format({{"format", b}}).empty();
  }

  Json joined_items(const std::string& key, const Json& a, const Json& b) const {
    const bool plain = key == "items" && !a.is_array() && !b.is_array() && !base_.contains("prefixItems") &&
                       !more_.contains("prefixItems");
    if (!plain) refuse(key, "is given twice with different values, which cannot be enforced together");
    return both(a, b);
  }

  void join_values() {
    const Json own = listed_values(base_, place_), other = listed_values(more_, place_);
    if (other.is_null()) return;
    Json values = Json::array();
    for (const Json& value : other)
      if (own.is_null() || std::find(own.begin(), own.end(), value) != own.end()) values.push_back(value);
    if (values.empty()) refuse("enum", "and a schema that must hold as well have no value in common");
    merged_.erase("const");
    merged_["enum"] = std::move(values);
  }

  // What a schema says of a member that it does not name. "unevaluatedProperties" of a part sees that part alone.
  static Json others_of(const Json& schema, bool part) {
    if (const auto others = schema.find("additionalProperties"); others != schema.end()) return *others;
    return part ? schema.value("unevaluatedProperties", Json(true)) : Json(true);
  }

  void join_members() {
    if (!std::any_of(kMembers.begin(), kMembers.end(), [&](std::string_view key) { return more_.contains(key); }))
      return;
    const Json names = required_of(more_, place_);
    for (const Json& name : names)
      if (!is_among(required_of(merged_, place_), name.get<std::string>())) merged_["required"].push_back(name);
    const bool described =
        std::any_of(kMembers.begin(), kMembers.end() - 1, [&](std::string_view key) { return more_.contains(key); });
    if (described) join_descriptions();
  }

  void join_descriptions() {
    const bool patterns = base_.contains("patternProperties") || more_.contains("patternProperties");
    const bool both_described =
        std::any_of(kMembers.begin(), kMembers.end() - 1, [&](std::string_view key) { return base_.contains(key); });
    if (patterns && both_described)
      refuse("patternProperties", "cannot be enforced together with another schema of the same object");
    if (patterns) merged_["patternProperties"] = more_["patternProperties"];
    const Json own = properties_of(base_), other = properties_of(more_);
    const Json own_others = others_of(base_, false), other_others = others_of(more_, true);
    Json properties = own;
    for (const auto& [name, schema] : own.items()) properties[name] = both(schema, other.value(name, other_others));
    for (const auto& [name, schema] : other.items())
      if (!own.contains(name)) properties[name] = both(own_others, schema);
    if (!properties.empty()) merged_["properties"] = std::move(properties);
    const bool limited =
        base_.contains("additionalProperties") || other_others != true || more_.contains("additionalProperties");
    if (limited) merged_["additionalProperties"] = both(own_others, other_others);
  }

  Json properties_of(const Json& schema) const {
    const auto found = schema.find("properties");
    if (found == schema.end() || found->is_null()) return Json::object();
    if (!found->is_object()) refuse("properties", "must be an object");
    return *found;
  }

  const Json& base_;
  const Json& more_;
  const std::string& place_;
  Json merged_;
  std::vector<Json> apart_;
};

}  // namespace

Json merge_schemas(const Json& base, const Json& more, const std::string& place) {
  if (base == true) return more;
  if (more == true) return base;
  if (base == false || more == false) return false;
  if (!base.is_object() || !more.is_object()) refuse_schema(place, "must be a JSON schema, that is an object");
  return Merge(base, more, place).result();
}

}  // namespace luce::completion
