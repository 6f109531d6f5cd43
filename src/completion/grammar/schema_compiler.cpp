#include "completion/grammar/schema_compiler.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "completion/grammar/exclusive_choice.hpp"
#include "completion/grammar/machine.hpp"
#include "completion/grammar/schema_keywords.hpp"
#include "completion/grammar/schema_merge.hpp"

namespace luce::completion {

namespace {

constexpr int kMostDepth = 96;
constexpr size_t kMostMerged = 2'000'000;  // values
constexpr int kMostReferences = 32;        // one after the other
constexpr size_t kMostDependents = 6;      // each doubles what is tried

class Depth {
 public:
  Depth(int& depth, const std::string& place) : depth_(depth) {
    if (++depth_ > kMostDepth) refuse_schema(place, fmt::format("is nested more than {} deep", kMostDepth));
  }
  ~Depth() { --depth_; }

 private:
  int& depth_;
};

size_t values_in(const Json& json) {
  size_t count = 1;
  if (json.is_structured())
    for (const Json& each : json) count += values_in(each);
  return count;
}

Json without(const Json& schema, std::initializer_list<const char*> keys) {
  Json rest = schema;
  for (const char* key : keys) rest.erase(key);
  return rest;
}

}  // namespace

void SchemaCompiler::cannot(const std::string& place, const std::string& keyword, const std::string& why) const {
  if (duty_ == SchemaDuty::all) refuse_schema(place + "/" + keyword, why);
}

int SchemaCompiler::compile(const Json& schema, const std::string& place, int next) {
  const Depth depth(depth_, place);
  if (schema == true) return json_.value(next);
  if (schema == false) refuse_schema(place, "allows no value at all");
  if (!schema.is_object()) refuse_schema(place, "must be a JSON schema, that is an object");
  for (const char* key : {"allOf", "anyOf", "oneOf"})
    if (schema.contains(key)) list_of(schema, key, place);
  if (const SchemaKeyword* const refused = refused_keyword(schema)) {
    const std::string keyword(refused->name);
    cannot(place, keyword, "is a keyword that cannot be enforced; leave it out or say it otherwise");
    return compile(without(schema, {keyword.c_str()}), place, next);
  }
  if (schema.value("nullable", Json()) == true) {
    const int value = compile(without(schema, {"nullable"}), place, next);
    return builder_.any_of({json_.null(next), value});
  }
  return constrained(schema, place, next);
}

int SchemaCompiler::constrained(const Json& schema, const std::string& place, int next) {
  if (schema.contains("$ref")) return reference(schema, place, next);
  for (const char* key : {"anyOf", "oneOf"})
    if (schema.contains(key)) return variants(schema, key, place, next);
  if (schema.contains("allOf")) return compile(flattened(schema, place), place, next);
  for (const char* key : {"dependentRequired", "dependentSchemas", "dependencies"})
    if (schema.contains(key)) return dependents(schema, place, next);
  if (schema.contains("enum") || schema.contains("const")) return constants(schema, place, next);
  std::vector<int> branches;
  for (const std::string& type : types_of(schema, place)) branches.push_back(typed(schema, type, place, next));
  return branches.empty() ? json_.value(next) : builder_.any_of(std::move(branches));
}

Json SchemaCompiler::merge(const Json& base, const Json& more, const std::string& place) {
  Json merged = merge_schemas(base, more, place);
  merged_ += values_in(merged);
  if (merged_ > kMostMerged) refuse_schema(place, "joins too many schemas; make it simpler");
  return merged;
}

Json SchemaCompiler::without_references(const Json& schema, const std::string& place) {
  const Depth depth(depth_, place + "/$ref");
  Json plain = schema;
  for (int i = 0; i < kMostReferences; ++i) {
    if (!plain.is_object() || !plain.contains("$ref")) return plain;
    if (!plain["$ref"].is_string()) refuse_schema(place + "/$ref", "must be a string");
    const Json& target = referenced(root_, plain["$ref"], place);
    const Json rest = without(plain, {"$ref"});
    if (!has_constraints(rest)) {
      plain = target;
      continue;
    }
    // What the target refers to is followed before the two are joined.
    plain = merge(without_references(target, place), rest, place);
  }
  refuse_schema(place, "has a $ref that leads back to itself");
}

Json SchemaCompiler::flattened(const Json& schema, const std::string& place) {
  const Depth depth(depth_, place);
  Json plain = without_references(schema, place);
  if (!plain.is_object() || !plain.contains("allOf")) return plain;
  const Json parts = list_of(plain, "allOf", place);
  Json joined = without(plain, {"allOf"});
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string here = fmt::format("{}/allOf/{}", place, i);
    joined = merge(joined, flattened(parts[i], here), here);
  }
  return joined;
}

int SchemaCompiler::reference(const Json& schema, const std::string& place, int next) {
  if (!schema["$ref"].is_string()) refuse_schema(place + "/$ref", "must be a string");
  if (has_constraints(without(schema, {"$ref"}))) return compile(without_references(schema, place), place, next);
  const std::string reference = schema["$ref"];
  if (const auto known = references_.find(reference); known != references_.end())
    return builder_.call(known->second, next);
  const Json& target = referenced(root_, reference, place);
  const int rule = references_[reference] = builder_.declare_rule();
  builder_.define(rule, compile(target, reference, kReturn));
  return builder_.call(rule, next);
}

int SchemaCompiler::variants(const Json& schema, const std::string& key, const std::string& place, int next) {
  const Json& list = schema[key];
  const Json base = without(schema, {key.c_str()});
  const bool alone = !has_constraints(base);
  std::vector<Json> branches;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string here = fmt::format("{}/{}/{}", place, key, i);
    if (alone && key == "anyOf")
      branches.push_back(list[i]);
    else
      branches.push_back(merge(base, flattened(list[i], here), here));
  }
  if (key == "oneOf") {
    for (Json& branch : branches) branch = flattened(branch, place);
    const ChoiceOverlap overlap = make_exclusive(branches, root_);
    if (overlap.found)
      cannot(place, key,
             fmt::format("cannot be enforced: what {} allows may be allowed by {} too; use anyOf, or a property with "
                         "another const in each",
                         overlap.first, overlap.second));
  }
  std::vector<int> nodes;
  for (size_t i = 0; i < branches.size(); ++i) {
    if (branches[i] == false) continue;
    const std::string here = fmt::format("{}/{}/{}", place, key, i);
    nodes.push_back(builder_.call(builder_.rule(compile(branches[i], here, kReturn)), next));
  }
  if (nodes.empty()) refuse_schema(place + "/" + key, "allows no value at all");
  return builder_.any_of(std::move(nodes));
}

// A member on which others depend is left out in one branch and there, with them, in the other.
int SchemaCompiler::dependents(const Json& schema, const std::string& place, int next) {
  Json rest = schema;
  std::string key;
  for (const char* each : {"dependentRequired", "dependentSchemas", "dependencies"}) {
    if (!rest.contains(each)) continue;
    if (!rest[each].is_object()) refuse_schema(fmt::format("{}/{}", place, each), "must be an object");
    if (rest[each].size() > kMostDependents)
      refuse_schema(fmt::format("{}/{}", place, each), fmt::format("has more than {} members", kMostDependents));
    rest[each].empty() ? void(rest.erase(each)) : void(key = each);
  }
  if (key.empty()) return compile(rest, place, next);
  const std::string member = rest[key].begin().key();
  const Json needs = rest[key].begin().value();
  rest[key].erase(member);
  const Json with = needs.is_array() ? Json{{"required", needs}} : needs;
  const Json present = merge(rest, {{"required", Json::array({member})}}, place);
  const std::string here = fmt::format("{}/{}/{}", place, key, member);
  std::vector<int> branches;
  const std::vector<std::string> required = required_of(schema, place);
  if (std::find(required.begin(), required.end(), member) == required.end())
    branches.push_back(compile(merge(rest, {{"properties", {{member, false}}}}, place), place, next));
  const Json joined = merge(present, flattened(with, here), here);
  if (joined != false || branches.empty()) branches.push_back(compile(joined, here, next));
  return builder_.any_of(std::move(branches));
}

// The values of the list that the rest of the schema allows: read by its own grammar.
int SchemaCompiler::constants(const Json& schema, const std::string& place, int next) {
  const Json rest = without(schema, {"enum", "const"});
  std::unique_ptr<GrammarMachine> machine;
  if (has_constraints(rest)) {
    GrammarBuilder builder;
    JsonRules json(builder);
    SchemaCompiler inner(builder, json, root_, duty_);
    inner.depth_ = depth_;
    const int start = inner.compile(rest, place, kReturn);
    machine = std::make_unique<GrammarMachine>(std::make_shared<const GrammarProgram>(builder.finish(start)));
  }
  std::vector<int> branches;
  for (const Json& value : listed_values(schema, place)) {
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (machine != nullptr) {
      const int state = machine->after(machine->start(), text);
      if (state == GrammarMachine::kDead || !machine->accepts(state)) continue;
    }
    branches.push_back(builder_.literal(text, next));
  }
  if (branches.empty()) refuse_schema(place, "has an enum or const without a value that its other keywords allow");
  return builder_.any_of(std::move(branches));
}

int SchemaCompiler::typed(const Json& schema, const std::string& type, const std::string& place, int next) {
  if (type == "object") return object(schema, place, next);
  if (type == "array") return array(schema, place, next);
  if (type == "string") return string(schema, place, next);
  if (type == "integer" || type == "number") return number(schema, type == "integer", place, next);
  if (type == "boolean") return json_.boolean(next);
  if (type == "null") return json_.null(next);
  refuse_schema(place + "/type", fmt::format("\"{}\" is not a type of JSON schema", type));
}

int SchemaCompiler::number(const Json& schema, bool whole, const std::string& place, int next) {
  const NumberRule rule = number_rule(schema, whole, place);
  if (rule.free()) return whole ? json_.integer(next) : json_.number(next);
  const int node = compile_number(builder_, rule, next);
  if (node < 0) refuse_schema(place, "allows no number: see its minimum, maximum and multipleOf");
  return node;
}

}  // namespace luce::completion
