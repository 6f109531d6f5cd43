#include "completion/grammar/call_grammar.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "completion/calls/deepseek_calls.hpp"
#include "completion/calls/tool_set.hpp"
#include "completion/grammar/schema_keywords.hpp"

namespace luce::completion {

namespace {

// What binds more than one parameter; calls that are no JSON are written parameter by parameter.
constexpr std::string_view kBeyondMembers[] = {"anyOf",
                                               "oneOf",
                                               "enum",
                                               "const",
                                               "not",
                                               "if",
                                               "minProperties",
                                               "maxProperties",
                                               "patternProperties",
                                               "propertyNames",
                                               "dependentRequired",
                                               "dependentSchemas",
                                               "dependencies"};

constexpr const char* kOfOtherMembers[] = {
    "additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames", "anyOf", "oneOf",
    "dependentSchemas",     "dependencies"};
constexpr int kMostVariants = 64;  // lists of them in one call, since schemas may refer to themselves

}  // namespace

int CallGrammar::call(const std::string& function, const Json& parameters, int next) {
  const std::string quoted = Json(function).dump();
  const auto write = [&](const std::string& before, int inside) { return builder_.literal(before, inside); };
  const auto close = [&](const std::string& after) { return builder_.literal(after, next); };
  switch (form_) {
    case CallForm::tagged:
      return write("<tool_call>\n<function=" + function + ">\n",
                   tagged(parameters, close("</function>\n</tool_call>")));
    case CallForm::json:
      return write("<tool_call>\n{\"name\": " + quoted + ", \"arguments\": ",
                   arguments(parameters, close("}\n</tool_call>")));
    case CallForm::key_values: return write("<tool_call>" + function, key_values(parameters, close("</tool_call>")));
    case CallForm::mistral:
      return write("[TOOL_CALLS][{\"name\": " + quoted + ", \"arguments\": ", arguments(parameters, close("}]")));
    case CallForm::plain_json:
      return write("{\"name\": " + quoted + ", \"parameters\": ", arguments(parameters, close("}")));
    case CallForm::harmony:
      return write("<|channel|>commentary to=functions." + function + " <|constrain|>json<|message|>",
                   arguments(parameters, next));
    case CallForm::deepseek: break;
  }
  const auto tokens = DeepSeekSyntax::tokens();
  return write(tokens[0] + tokens[1] + function + tokens[2], arguments(parameters, close(tokens[3] + tokens[4])));
}

// Members that the schema does not name are not written by a call that is forced, unless the schema speaks of them.
int CallGrammar::arguments(const Json& parameters, int next) {
  SchemaCompiler schemas(builder_, json_, parameters, duty_);
  Json schema = schemas.flattened(parameters.is_object() ? parameters : Json::object(), "parameters");
  if (schema.is_object() && !schema.contains("type")) schema["type"] = "object";
  const bool speaks = std::any_of(std::begin(kOfOtherMembers), std::end(kOfOtherMembers),
                                  [&](const char* key) { return schema.contains(key); });
  if (!speaks) schema["additionalProperties"] = false;
  return schemas.compile(schema, "parameters", next);
}

// `member(schemas, name, schema, next)` for each property in the schema's order; those that are not required may be
// missing.
template <typename Member>
int CallGrammar::members(const Json& parameters, Member member, int next) {
  SchemaCompiler schemas(builder_, json_, parameters, duty_);
  const Json schema = schemas.flattened(parameters, "parameters");
  if (!schema.is_object()) return next;
  for (const auto& [key, value] : schema.items())
    if (std::find(std::begin(kBeyondMembers), std::end(kBeyondMembers), key) != std::end(kBeyondMembers))
      schemas.cannot("parameters", key, "cannot be enforced in the form in which this model writes calls");
  const Json properties = properties_with_required(schema, "parameters");
  const std::vector<std::string> required = required_of(schema, "parameters");
  std::vector<std::string> names;
  for (const auto& [name, property] : properties.items())
    if (property != false) names.push_back(name);
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const int reads = member(schemas, *name, properties[*name], next);
    const bool needed = std::find(required.begin(), required.end(), *name) != required.end();
    next = needed ? reads : builder_.optional(reads, next);
  }
  return next;
}

int CallGrammar::plain_value(SchemaCompiler& schemas, const Json& schema, const std::string& place, int next) {
  const Json plain = schemas.flattened(schema, place);
  const ValueRule rule = value_rule(plain, schemas.root());
  if (rule.kind == ValueKind::boolean || rule.kind == ValueKind::json)
    return schemas.compile(plain, place, builder_.literal(value_end_, next));
  if (!plain.is_object()) return builder_.until(value_end_, next);
  for (const char* key : {"anyOf", "oneOf"}) {
    if (!plain.contains(key)) continue;
    const Json& variants = list_of(plain, key, place);
    if (++variants_ > kMostVariants) refuse_schema(place, "holds too many variants; make it simpler");
    std::vector<int> branches;
    for (size_t i = 0; i < variants.size(); ++i)
      branches.push_back(plain_value(schemas, variants[i], fmt::format("{}/{}/{}", place, key, i), next));
    return builder_.any_of(std::move(branches));
  }
  return plain_text(schemas, plain, place, next);
}

int CallGrammar::plain_text(SchemaCompiler& schemas, const Json& schema, const std::string& place, int next) {
  if (schema.value("type", Json()) == "null") return builder_.literal("null" + value_end_, next);
  std::vector<int> branches;
  for (const Json& value : listed_values(schema, place))
    branches.push_back(
        builder_.literal((value.is_string() ? value.get<std::string>() : value.dump()) + value_end_, next));
  if (!branches.empty()) return builder_.any_of(std::move(branches));
  const bool bound = schema.contains("pattern") || schema.contains("minLength") || schema.contains("maxLength") ||
                     !pattern_of_format(schema).empty();
  if (!bound) return builder_.until(value_end_, next);
  const int end = builder_.literal(value_end_, next);
  const int text = schemas.string_inside(schema, place, true, end);
  return value_rule(schema, schemas.root()).allows_null ? builder_.any_of({text, builder_.literal("null", end)}) : text;
}

int CallGrammar::tagged(const Json& parameters, int next) {
  value_end_ = "\n</parameter>\n";
  return members(
      parameters,
      [&](SchemaCompiler& schemas, const std::string& name, const Json& schema, int after) {
        return builder_.literal("<parameter=" + name + ">\n",
                                plain_value(schemas, schema, "parameters/properties/" + name, after));
      },
      next);
}

int CallGrammar::key_values(const Json& parameters, int next) {
  value_end_ = "</arg_value>";
  const auto line_break = [&](int after) { return builder_.optional(builder_.literal("\n", after), after); };
  return line_break(members(
      parameters,
      [&](SchemaCompiler& schemas, const std::string& name, const Json& schema, int after) {
        const int value = plain_value(schemas, schema, "parameters/properties/" + name, line_break(after));
        return builder_.literal("<arg_key>" + name + "</arg_key>", line_break(builder_.literal("<arg_value>", value)));
      },
      next));
}

}  // namespace luce::completion
