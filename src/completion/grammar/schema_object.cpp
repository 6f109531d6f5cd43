#include <algorithm>
#include <memory>
#include <utility>

#include "base/format.hpp"
#include "completion/grammar/machine.hpp"
#include "completion/grammar/pattern.hpp"
#include "completion/grammar/schema_compiler.hpp"
#include "completion/grammar/schema_keywords.hpp"
#include "text/utf8.hpp"

namespace luce::completion {

namespace {

constexpr int kImpossible = -1;
constexpr size_t kMostNameBytes = 256;  // of a name that is told apart from others

/// Tells which names of members a pattern or a schema allows.
class NameTest {
 public:
  NameTest(GrammarBuilder builder, int start)
      : machine_(std::make_shared<const GrammarProgram>(builder.finish(start))) {}

  bool allows(const std::string& name) {
    const int state = machine_.after(machine_.start(), Json(name).dump());
    return state != GrammarMachine::kDead && machine_.accepts(state);
  }

 private:
  GrammarMachine machine_;
};

NameTest pattern_test(const std::string& pattern, const std::string& place) {
  GrammarBuilder builder;
  JsonRules json(builder);
  const int inside = compile_pattern(builder, json, pattern, place, builder.literal("\"", kReturn));
  const int start = builder.literal("\"", inside);
  return {std::move(builder), start};
}

/// Strings that begin as none of some names end: the rest of a name after what all of `names` have in common.
class OtherNames {
 public:
  OtherNames(GrammarBuilder& builder, JsonRules& json, int close) : builder_(builder), close_(close) {
    free_ = builder.repeat(builder.rule(json.character(kReturn)), 0, kUnbounded, close);
    beyond_ascii_ = builder.rule(builder.code_points(0x80, 0x10FFFF, kReturn));
  }

  /// `names` sorted and without repetition; all agree up to `at`.
  int after(std::span<const std::string> names, size_t at) {
    if (names.empty() || at >= kMostNameBytes) return names.empty() ? free_ : kImpossible;
    const bool complete = names.front().size() == at;
    if (complete) names = names.subspan(1);
    std::vector<int> branches;
    if (!complete) branches.push_back(close_);
    ByteSet plain = byte_span(0x20, 0x7E) & ~bytes_of("\"\\");
    bool ascii = true;
    for (size_t first = 0, last = 0; first < names.size(); first = last) {
      const char lead = names[first][at];
      while (last < names.size() && names[last][at] == lead) ++last;
      const auto byte = static_cast<unsigned char>(lead);
      ascii = ascii && byte < 0x80;
      const bool taken = plain.test(byte);
      plain.reset(byte);
      const int more = taken ? after(names.subspan(first, last - first), at + 1) : kImpossible;
      if (more != kImpossible) branches.push_back(builder_.bytes(byte_span(byte, byte), more));
    }
    branches.push_back(builder_.bytes(plain, free_));
    if (ascii) branches.push_back(builder_.call(beyond_ascii_, free_));
    return builder_.any_of(std::move(branches));
  }

 private:
  GrammarBuilder& builder_;
  int close_;
  int free_;
  int beyond_ascii_;
};

}  // namespace

int SchemaCompiler::object(const Json& schema, const std::string& place, int next) {
  const ObjectRule rule = object_rule(schema, place);
  const int members = static_cast<int>(rule.members.size());
  // Built from the last member to the first, for each number of members before, as far as it matters.
  const int counted = rule.most == kUnbounded ? std::max(1, rule.least) : rule.most;
  const int last = std::min(members, counted);
  std::vector<int> after;
  for (int written = 0; written <= last; ++written) after.push_back(members_after(rule, written, next));
  for (auto member = rule.members.rbegin(); member != rule.members.rend(); ++member) {
    std::vector<int> before;
    for (int written = 0; written <= last; ++written) {
      const bool full = rule.most != kUnbounded && written >= rule.most;
      const int following = full ? kImpossible : after[std::min(written + 1, last)];
      std::vector<int> branches;
      if (following != kImpossible) {
        const int reads = json_.space(builder_.call(member->rule, following));
        branches.push_back(written == 0 ? reads : json_.punctuation(",", reads));
      }
      if (!member->needed && after[written] != kImpossible) branches.push_back(after[written]);
      before.push_back(branches.empty() ? kImpossible : builder_.any_of(std::move(branches)));
    }
    after = std::move(before);
  }
  if (after.front() == kImpossible)
    refuse_schema(place, "allows no object: see its required, minProperties and maxProperties");
  return builder_.literal("{", after.front());
}

// Members that are not named, and the closing brace.
int SchemaCompiler::members_after(const ObjectRule& rule, int written, int next) {
  const int least = std::max(0, rule.least - written);
  const int most = rule.most == kUnbounded ? kUnbounded : rule.most - written;
  const int close = json_.punctuation("}", next);
  if (!rule.others || most == 0) return least == 0 ? close : kImpossible;
  const int more = builder_.rule(json_.punctuation(",", builder_.call(rule.other_rule, kReturn)));
  if (written > 0) return builder_.repeat(more, least, most, close);
  const int rest = builder_.repeat(more, std::max(0, least - 1), most == kUnbounded ? kUnbounded : most - 1, close);
  const int first = builder_.call(rule.other_rule, rest);
  return least > 0 ? first : builder_.any_of({close, first});
}

SchemaCompiler::ObjectRule SchemaCompiler::object_rule(const Json& schema, const std::string& place) {
  ObjectRule rule{.least = count_of(schema, "minProperties", place, 0),
                  .most = count_of(schema, "maxProperties", place, kUnbounded)};
  if (rule.most != kUnbounded && rule.most < rule.least)
    refuse_schema(place, "has a maxProperties below its minProperties");
  add_members(schema, place, rule);
  add_others(schema, place, rule);
  if (!rule.others && rule.most >= static_cast<int>(rule.members.size())) rule.most = kUnbounded;
  return rule;
}

void SchemaCompiler::add_members(const Json& schema, const std::string& place, ObjectRule& rule) {
  const Json properties = properties_with_required(schema, place);
  const std::vector<std::string> required = required_of(schema, place);
  std::vector<std::pair<NameTest, Json>> patterns;
  if (const auto found = schema.find("patternProperties"); found != schema.end()) {
    if (!found->is_object()) refuse_schema(place + "/patternProperties", "must be an object");
    for (const auto& [pattern, value] : found->items())
      patterns.emplace_back(pattern_test(pattern, place + "/patternProperties"), value);
  }
  std::unique_ptr<NameTest> names;
  if (const auto found = schema.find("propertyNames"); found != schema.end()) {
    GrammarBuilder builder;
    JsonRules json(builder);
    SchemaCompiler inner(builder, json, root_, duty_);
    inner.depth_ = depth_;
    const Json rule_of_names =
        inner.merge({{"type", "string"}}, inner.flattened(*found, place), place + "/propertyNames");
    const int start =
        rule_of_names == false ? kImpossible : inner.compile(rule_of_names, place + "/propertyNames", kReturn);
    if (start == kImpossible && !required.empty()) refuse_schema(place + "/propertyNames", "allows no required member");
    if (start == kImpossible) return;
    names = std::make_unique<NameTest>(std::move(builder), start);
  }
  for (const auto& [name, property] : properties.items()) {
    const bool needed = std::find(required.begin(), required.end(), name) != required.end();
    Json value = property;
    for (auto& [test, also] : patterns)
      if (test.allows(name)) value = value == true ? also : Json{{"allOf", Json::array({value, also})}};
    if (names != nullptr && !names->allows(name)) value = false;
    const std::string here = place + "/properties/" + name;
    if (value == false && needed) refuse_schema(here, "is required, but no value is allowed");
    if (value == false) continue;
    const int reads = compile(value, here, kReturn);
    const int member = builder_.literal(Json(name).dump(), json_.punctuation(":", json_.space(reads)));
    rule.members.push_back({.name = name, .rule = builder_.rule(member), .needed = needed});
  }
}

void SchemaCompiler::add_others(const Json& schema, const std::string& place, ObjectRule& rule) {
  const Json properties = properties_with_required(schema, place);
  std::string key;
  for (const char* each : {"unevaluatedProperties", "additionalProperties"})
    if (schema.contains(each)) key = each;
  const bool described = schema.contains("properties") && !schema["properties"].empty();
  Json value = key.empty() ? Json(!described) : schema[key];
  if (const Json patterns = schema.value("patternProperties", Json::object()); !patterns.empty()) {
    if (patterns.size() > 1) cannot(place, "patternProperties", "can be enforced for one pattern, not for several");
    NameTest test = pattern_test(patterns.begin().key(), place + "/patternProperties");
    // A name that is written for the pattern must not be one of those with a schema of their own.
    for (const auto& [name, property] : properties.items())
      if (test.allows(name)) return;
    value = patterns.begin().value();
    key = "patternProperties/" + patterns.begin().key();
  }
  if (value == false) return;
  const int reads = compile(value, place + "/" + key, kReturn);
  const int name = other_name(schema, place, json_.punctuation(":", json_.space(reads)));
  if (name == kImpossible) return;
  rule.others = true;
  rule.other_rule = builder_.rule(json_.space(name));
}

// A name that is no property's; -1 if none can be written.
int SchemaCompiler::other_name(const Json& schema, const std::string& place, int next) {
  const int close = builder_.literal("\"", next);
  if (const Json patterns = schema.value("patternProperties", Json::object()); !patterns.empty()) {
    const std::string here = place + "/patternProperties";
    if (schema.contains("propertyNames")) cannot(place, "propertyNames", "cannot be enforced beside patternProperties");
    return builder_.literal("\"", compile_pattern(builder_, json_, patterns.begin().key(), here, close));
  }
  const Json properties = properties_with_required(schema, place);
  if (schema.contains("propertyNames")) {
    const std::string here = place + "/propertyNames";
    const Json names = merge({{"type", "string"}}, flattened(schema["propertyNames"], here), here);
    // Where members are named, one more of them could be written twice.
    return names == false || !properties.empty() ? kImpossible : compile(names, here, next);
  }
  std::vector<std::string> taken;
  for (const auto& [name, property] : properties.items()) {
    const std::string text = Json(name).dump();
    taken.push_back(text.substr(1, text.size() - 2));
  }
  std::sort(taken.begin(), taken.end());
  if (taken.empty()) return json_.string(next);
  return builder_.literal("\"", OtherNames(builder_, json_, close).after(taken, 0));
}

}  // namespace luce::completion
