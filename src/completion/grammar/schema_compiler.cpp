#include "completion/grammar/schema_compiler.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <utility>

#include "completion/grammar/integer_range.hpp"
#include "completion/grammar/pattern.hpp"
#include "completion/grammar/schema_keywords.hpp"

namespace luce::completion {

namespace {

constexpr int kMostDepth = 96;

class Depth {
 public:
  Depth(int& depth, const std::string& place) : depth_(depth) {
    if (++depth_ > kMostDepth) refuse_schema(place, fmt::format("is nested more than {} deep", kMostDepth));
  }
  ~Depth() { --depth_; }

 private:
  int& depth_;
};

}  // namespace

int SchemaCompiler::compile(const Json& schema, const std::string& place, int next) {
  const Depth depth(depth_, place);
  if (schema.is_boolean() && schema.get<bool>()) return json_.value(next);
  if (!schema.is_object()) refuse_schema(place, "must be a JSON schema, that is an object");
  if (const auto found = schema.find("$ref"); found != schema.end()) {
    if (!found->is_string()) refuse_schema(place + "/$ref", "must be a string");
    return reference(*found, place, next);
  }
  for (const char* key : {"anyOf", "oneOf"})
    if (schema.contains(key)) return variants(schema, key, place, next);
  if (schema.contains("allOf")) return merged(schema, place, next);
  if (schema.contains("const")) return constants(Json::array({schema["const"]}), next);
  if (schema.contains("enum")) return constants(list_of(schema, "enum", place), next);
  std::vector<int> branches;
  for (const std::string& type : types_of(schema, place)) branches.push_back(typed(schema, type, place, next));
  return branches.empty() ? json_.value(next) : builder_.any_of(std::move(branches));
}

int SchemaCompiler::reference(const std::string& reference, const std::string& place, int next) {
  if (const auto known = references_.find(reference); known != references_.end())
    return builder_.call(known->second, next);
  const Json& target = referenced(root_, reference, place);
  const int rule = references_[reference] = builder_.declare_rule();
  builder_.define(rule, compile(target, reference, kReturn));
  return builder_.call(rule, next);
}

int SchemaCompiler::variants(const Json& schema, const std::string& key, const std::string& place, int next) {
  const Json& list = list_of(schema, key, place);
  Json base = schema;
  base.erase(key);
  std::vector<int> branches;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string here = fmt::format("{}.{}[{}]", place, key, i);
    const Json joined =
        has_constraints(base) ? merge_schemas(base, resolve_schema(list[i], root_, here), here) : list[i];
    branches.push_back(builder_.call(builder_.rule(compile(joined, here, kReturn)), next));
  }
  return builder_.any_of(std::move(branches));
}

int SchemaCompiler::merged(const Json& schema, const std::string& place, int next) {
  Json joined = schema;
  joined.erase("allOf");
  const Json& list = list_of(schema, "allOf", place);
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string here = fmt::format("{}.allOf[{}]", place, i);
    joined = merge_schemas(joined, resolve_schema(list[i], root_, here), here);
  }
  return compile(joined, place, next);
}

int SchemaCompiler::constants(const Json& values, int next) {
  std::vector<int> branches;
  for (const Json& value : values) branches.push_back(builder_.literal(value.dump(), next));
  return builder_.any_of(std::move(branches));
}

int SchemaCompiler::typed(const Json& schema, const std::string& type, const std::string& place, int next) {
  if (type == "object") return object(schema, place, next);
  if (type == "array") return array(schema, place, next);
  if (type == "string") return string(schema, place, next);
  if (type == "integer") return integer(schema, place, next);
  if (type == "number") return json_.number(next);
  if (type == "boolean") return json_.boolean(next);
  if (type == "null") return json_.null(next);
  refuse_schema(place + "/type", fmt::format("\"{}\" is not a type of JSON schema", type));
}

// A rule for "name": value.
int SchemaCompiler::member(const Json& property, const std::string& name, const std::string& place, int next) {
  const int value = compile(property, place + "/" + name, kReturn);
  const int rule = builder_.rule(builder_.literal(Json(name).dump(), json_.punctuation(":", json_.space(value))));
  return builder_.call(rule, next);
}

// Members that the schema does not name, and the closing brace.
int SchemaCompiler::other_members(const Json& schema, const std::string& place, bool first, int next) {
  const int close = json_.punctuation("}", next);
  const auto others = schema.find("additionalProperties");
  const bool named = schema.contains("properties") && !schema["properties"].empty();
  if (others == schema.end() ? named : *others == false) return close;
  const Json any = true;
  const Json& rule_of_value = others == schema.end() || others->is_boolean() ? any : *others;
  const int value = compile(rule_of_value, place + "/additionalProperties", kReturn);
  const int one = builder_.rule(json_.space(json_.string(json_.punctuation(":", json_.space(value)))));
  const int more = builder_.rule(json_.punctuation(",", builder_.call(one, kReturn)));
  const int rest = builder_.repeat(more, 0, kUnbounded, close);
  return first ? builder_.any_of({close, builder_.call(one, rest)}) : rest;
}

int SchemaCompiler::object(const Json& schema, const std::string& place, int next) {
  const Json properties = properties_with_required(schema, place);
  const std::vector<std::string> required = required_of(schema, place);
  // Built from the last member to the first; each place knows whether a member came before, for the comma.
  int after_none = other_members(schema, place, true, next);
  int after_some = other_members(schema, place, false, next);
  std::vector<std::pair<std::string, const Json*>> members;
  for (const auto& [name, property] : properties.items()) members.emplace_back(name, &property);
  for (auto each = members.rbegin(); each != members.rend(); ++each) {
    const int reads = member(*each->second, each->first, place + "/properties", after_some);
    const bool needed = std::find(required.begin(), required.end(), each->first) != required.end();
    const int first = json_.space(reads), later = json_.punctuation(",", json_.space(reads));
    after_none = needed ? first : builder_.any_of({first, after_none});
    after_some = needed ? later : builder_.any_of({later, after_some});
  }
  return builder_.literal("{", after_none);
}

int SchemaCompiler::array(const Json& schema, const std::string& place, int next) {
  const int close = json_.punctuation("]", next);
  const Json& prefix = schema.contains("prefixItems") ? list_of(schema, "prefixItems", place) : empty_list();
  const int least = count_of(schema, "minItems", place, 0), most = count_of(schema, "maxItems", place, kUnbounded);
  if (most != kUnbounded && most < least) refuse_schema(place, "has a maxItems below its minItems");
  if (most == 0) return builder_.literal("[", close);
  const auto items = schema.find("items");
  const Json any = true;
  const int named = static_cast<int>(prefix.size());
  int rest = close;
  if (items == schema.end() || *items != false) {
    const int value = compile(items == schema.end() ? any : *items, place + "/items", kReturn);
    const int more = builder_.rule(json_.punctuation(",", json_.space(value)));
    const int done = std::max(named, 1);  // before the repetition
    const int most_more = most == kUnbounded ? kUnbounded : std::max(0, most - done);
    rest = builder_.repeat(more, std::max(0, least - done), most_more, close);
    if (named == 0) {
      const int elements = json_.space(builder_.call(builder_.rule(value), rest));
      return builder_.literal("[", least > 0 ? elements : builder_.any_of({close, elements}));
    }
  }
  for (int i = named; i-- > 0;) {
    const int value = compile(prefix[static_cast<size_t>(i)], fmt::format("{}.prefixItems[{}]", place, i), rest);
    rest = i == 0 ? json_.space(value) : json_.punctuation(",", json_.space(value));
  }
  return builder_.literal("[", rest);
}

int SchemaCompiler::string(const Json& schema, const std::string& place, int next) {
  const int close = builder_.literal("\"", next);
  if (const auto pattern = schema.find("pattern"); pattern != schema.end()) {
    if (!pattern->is_string()) refuse_schema(place + "/pattern", "must be a string");
    return builder_.literal(
        "\"", compile_pattern(builder_, json_, pattern->get_ref<const std::string&>(), place + "/pattern", close));
  }
  if (const std::string known = pattern_of_format(schema); !known.empty())
    return builder_.literal("\"", compile_pattern(builder_, json_, known, place + "/format", close));
  const int least = count_of(schema, "minLength", place, 0), most = count_of(schema, "maxLength", place, kUnbounded);
  if (least == 0 && most == kUnbounded) return json_.string(next);
  if (most != kUnbounded && most < least) refuse_schema(place, "has a maxLength below its minLength");
  const int character = builder_.rule(json_.character(kReturn));
  return builder_.literal("\"", builder_.repeat(character, least, most, close));
}

int SchemaCompiler::integer(const Json& schema, const std::string& place, int next) {
  const IntegerBounds bounds = integer_bounds(schema, place);
  if (!bounds.least && !bounds.most) return json_.integer(next);
  if (bounds.least && bounds.most && *bounds.least > *bounds.most)
    refuse_schema(place, "has a maximum below its minimum");
  return compile_integer_range(builder_, bounds, next);
}

}  // namespace luce::completion
