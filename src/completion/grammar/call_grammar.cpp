#include "completion/grammar/call_grammar.hpp"

#include <algorithm>
#include <vector>

#include "completion/calls/deepseek_calls.hpp"
#include "completion/calls/tool_set.hpp"
#include "completion/grammar/schema_compiler.hpp"
#include "completion/grammar/schema_keywords.hpp"

namespace luce::completion {

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

// Members that the schema does not name are not written by a call that is forced.
int CallGrammar::arguments(const Json& parameters, int next) {
  Json schema = parameters.is_object() ? parameters : Json::object();
  if (!schema.contains("type") && !schema.contains("$ref")) schema["type"] = "object";
  if (!schema.contains("additionalProperties")) schema["additionalProperties"] = false;
  return SchemaCompiler(builder_, json_, schema).compile(schema, "parameters", next);
}

// `member(name, schema, next)` for each property in the schema's order; those that are not required may be missing.
template <typename Member>
int CallGrammar::members(const Json& parameters, Member member, int next) {
  const Json& schema = resolve_schema(parameters, parameters, "parameters");
  if (!schema.is_object()) return next;
  const Json properties = properties_with_required(schema, "parameters");
  const std::vector<std::string> required = required_of(schema, "parameters");
  std::vector<std::string> names;
  for (const auto& [name, property] : properties.items()) names.push_back(name);
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const int reads = member(*name, properties[*name], next);
    const bool needed = std::find(required.begin(), required.end(), *name) != required.end();
    next = needed ? reads : builder_.optional(reads, next);
  }
  return next;
}

int CallGrammar::plain_value(const Json& schema, const Json& root, const std::string& place, int next) {
  const ValueRule rule = value_rule(schema, root);
  if (rule.kind == ValueKind::boolean || rule.kind == ValueKind::json)
    return SchemaCompiler(builder_, json_, root).compile(schema, place, builder_.literal(value_end_, next));
  const Json& resolved = resolve_schema(schema, root, place);
  if (!resolved.is_object() || !resolved.contains("enum")) return builder_.until(value_end_, next);
  std::vector<int> branches;
  for (const Json& value : list_of(resolved, "enum", place))
    branches.push_back(
        builder_.literal((value.is_string() ? value.get<std::string>() : value.dump()) + value_end_, next));
  return builder_.any_of(std::move(branches));
}

int CallGrammar::tagged(const Json& parameters, int next) {
  value_end_ = "\n</parameter>\n";
  return members(
      parameters,
      [&](const std::string& name, const Json& schema, int after) {
        return builder_.literal("<parameter=" + name + ">\n",
                                plain_value(schema, parameters, "parameters." + name, after));
      },
      next);
}

int CallGrammar::key_values(const Json& parameters, int next) {
  value_end_ = "</arg_value>";
  const auto line_break = [&](int after) { return builder_.optional(builder_.literal("\n", after), after); };
  return line_break(members(
      parameters,
      [&](const std::string& name, const Json& schema, int after) {
        const int value = plain_value(schema, parameters, "parameters." + name, line_break(after));
        return builder_.literal("<arg_key>" + name + "</arg_key>", line_break(builder_.literal("<arg_value>", value)));
      },
      next));
}

}  // namespace luce::completion
