#include "completion/schema_validator.hpp"

#include <algorithm>
#include <cmath>
#include <regex>

#include "text/utf8.hpp"

namespace luce::completion {

namespace {

bool of_type(const Json& value, const std::string& type) {
  if (type == "integer") return value.is_number() && value.get<double>() == std::floor(value.get<double>());
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "boolean") return value.is_boolean();
  return type == "null" && value.is_null();
}

size_t characters(const std::string& text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at += text::decode_utf8(text, at).size_bytes) ++count;
  return count;
}

class Validator {
 public:
  Validator(const Json& schema, const Json& value, const Json& root) : schema_(schema), value_(value), root_(root) {}

  bool valid() const {
    if (schema_.is_boolean()) return schema_.get<bool>();
    return general() && combined() && (!value_.is_number() || number()) && (!value_.is_string() || string()) &&
           (!value_.is_array() || array()) && (!value_.is_object() || object());
  }

 private:
  bool allows(const Json& schema, const Json& value) const { return schema_allows(schema, value, root_); }
  bool allows(const Json& schema) const { return allows(schema, value_); }
  const Json* at(const char* key) const {
    const auto found = schema_.find(key);
    return found == schema_.end() ? nullptr : &*found;
  }
  long matching(const Json& list) const {
    return std::count_if(list.begin(), list.end(), [&](const Json& each) { return allows(each); });
  }

  bool general() const {
    if (const Json* type = at("type")) {
      const Json types = type->is_array() ? *type : Json::array({*type});
      if (std::none_of(types.begin(), types.end(), [&](const Json& each) { return of_type(value_, each); }))
        return at("nullable") != nullptr && value_.is_null();
    }
    if (const Json* list = at("enum"); list && std::find(list->begin(), list->end(), value_) == list->end())
      return false;
    if (const Json* constant = at("const"); constant && *constant != value_) return false;
    const Json* reference = at("$ref");
    return reference == nullptr || allows(root_.at(Json::json_pointer(reference->get<std::string>().substr(1))));
  }

  bool combined() const {
    if (const Json* all = at("allOf"); all && matching(*all) != static_cast<long>(all->size())) return false;
    if (const Json* any = at("anyOf"); any && matching(*any) == 0) return false;
    if (const Json* one = at("oneOf"); one && matching(*one) != 1) return false;
    return at("not") == nullptr || !allows(*at("not"));
  }

  bool number() const {
    const double value = value_.get<double>();
    const auto bound = [&](const char* key) { return at(key)->get<double>(); };
    if (at("minimum") && value < bound("minimum")) return false;
    if (at("maximum") && value > bound("maximum")) return false;
    if (at("exclusiveMinimum") && value <= bound("exclusiveMinimum")) return false;
    if (at("exclusiveMaximum") && value >= bound("exclusiveMaximum")) return false;
    if (!at("multipleOf")) return true;
    const double times = value / bound("multipleOf");
    return std::abs(times - std::round(times)) < 1e-6 * std::max(1.0, std::abs(times));
  }

  bool string() const {
    const std::string text = value_;
    const size_t length = characters(text);
    if (at("minLength") && length < at("minLength")->get<size_t>()) return false;
    if (at("maxLength") && length > at("maxLength")->get<size_t>()) return false;
    return !at("pattern") || std::regex_search(text, std::regex(at("pattern")->get<std::string>()));
  }

  bool array() const {
    const Json none = Json::array();
    const Json& prefix = at("prefixItems") ? *at("prefixItems") : none;
    for (size_t i = 0; i < value_.size(); ++i) {
      if (i < prefix.size() ? !allows(prefix[i], value_[i]) : at("items") && !allows(*at("items"), value_[i]))
        return false;
      if (at("uniqueItems") && *at("uniqueItems") == true && std::count(value_.begin(), value_.end(), value_[i]) != 1)
        return false;
    }
    if (at("minItems") && value_.size() < at("minItems")->get<size_t>()) return false;
    return !at("maxItems") || value_.size() <= at("maxItems")->get<size_t>();
  }

  bool object() const {
    if (at("minProperties") && value_.size() < at("minProperties")->get<size_t>()) return false;
    if (at("maxProperties") && value_.size() > at("maxProperties")->get<size_t>()) return false;
    if (at("required"))
      for (const Json& name : *at("required"))
        if (!value_.contains(name.get<std::string>())) return false;
    for (const auto& [name, member] : value_.items())
      if (!member_allowed(name, member)) return false;
    return dependents();
  }

  bool member_allowed(const std::string& name, const Json& member) const {
    if (at("propertyNames") && !allows(*at("propertyNames"), Json(name))) return false;
    bool evaluated = at("properties") && at("properties")->contains(name);
    if (evaluated && !allows((*at("properties"))[name], member)) return false;
    if (at("patternProperties"))
      for (const auto& [pattern, schema] : at("patternProperties")->items()) {
        if (!std::regex_search(name, std::regex(pattern))) continue;
        evaluated = true;
        if (!allows(schema, member)) return false;
      }
    return evaluated || !at("additionalProperties") || allows(*at("additionalProperties"), member);
  }

  bool dependents() const {
    if (const Json* names = at("dependentRequired"))
      for (const auto& [trigger, needed] : names->items())
        for (const Json& name : needed)
          if (value_.contains(trigger) && !value_.contains(name.get<std::string>())) return false;
    if (const Json* schemas = at("dependentSchemas"))
      for (const auto& [trigger, schema] : schemas->items())
        if (value_.contains(trigger) && !allows(schema)) return false;
    return true;
  }

  const Json& schema_;
  const Json& value_;
  const Json& root_;
};

}  // namespace

bool schema_allows(const Json& schema, const Json& value, const Json& root) {
  return Validator(schema, value, root).valid();
}

}  // namespace luce::completion
