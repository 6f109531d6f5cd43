#include "text/jinja/macro.hpp"

#include "text/jinja/arguments.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {

Macro::Macro(const MacroDefinition& definition, const Frame& frame)
    : Object(frame.heap()), definition_(definition), scope_(frame.scope) {
  charge(sizeof(Macro));
}

Value Macro::attribute(Frame&, std::string_view name) {
  return name == "name" ? Value(String::literal(definition_.name)) : Value();
}

void Macro::bind_rest(Frame& inner, Arguments& arguments, std::vector<bool>& used) const {
  auto keyword_rest = std::make_shared<Dict>(inner.heap());
  Value caller = undefined("No caller defined");
  for (size_t i = 0; i < arguments.keyword.size(); ++i) {
    auto& [name, value] = arguments.keyword[i];
    if (used[i]) continue;
    if (definition_.caller && name.view() == "caller") {
      caller = value;
    } else if (definition_.keyword_rest) {
      keyword_rest->set(name, value);
    } else {
      raise("macro '{}' takes no keyword argument '{}'", definition_.name, name.view());
    }
  }
  if (definition_.caller) inner.scope->set(*definition_.caller, caller);
  if (definition_.keyword_rest) inner.scope->set(*definition_.keyword_rest, Value(keyword_rest));
  const size_t count = definition_.parameters.size();
  if (arguments.positional.size() > count && !definition_.rest) {
    raise("macro '{}' takes not more than {} argument(s)", definition_.name, count);
  }
  if (!definition_.rest) return;
  const auto first_rest =
      arguments.positional.begin() + static_cast<ptrdiff_t>(std::min(count, arguments.positional.size()));
  std::vector<Value> rest(first_rest, arguments.positional.end());
  inner.scope->set(*definition_.rest, make_list(inner.heap(), std::move(rest), Flavor::tuple));
}

void Macro::bind(Frame& inner, Arguments& arguments) const {
  const auto& parameters = definition_.parameters;
  std::vector<bool> used(arguments.keyword.size(), false);
  std::vector<bool> bound(parameters.size(), false);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = inner.render.names.text(parameters[i].name);
    if (i < arguments.positional.size()) {
      inner.scope->set(parameters[i].name, arguments.positional[i]);
      bound[i] = true;
    }
    for (size_t k = 0; k < arguments.keyword.size(); ++k) {
      if (used[k] || arguments.keyword[k].first.view() != name) continue;
      if (bound[i]) raise("macro '{}' got multiple values for argument '{}'", definition_.name, name);
      inner.scope->set(parameters[i].name, arguments.keyword[k].second);
      used[k] = bound[i] = true;
    }
  }
  bind_rest(inner, arguments, used);
  // Defaults come last, since they may refer to other parameters.
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (bound[i]) continue;
    const std::string& name = inner.render.names.text(parameters[i].name);
    Value value = parameters[i].fallback ? parameters[i].fallback->evaluate(inner)
                                         : undefined("parameter '" + name + "' was not provided");
    inner.scope->set(parameters[i].name, std::move(value));
  }
}

Value Macro::call(Frame& frame, Arguments& arguments) {
  const Step step(frame.render, frame.render.at);
  StringBuilder out(frame.heap());
  Frame inner{frame.render, std::make_shared<Scope>(frame.heap(), scope_), &out};
  bind(inner, arguments);
  jinja::execute(definition_.body, inner);
  return out.finish();
}

void Macro::surrender(std::vector<Value>& out) {
  if (scope_) out.push_back(Value(std::move(scope_)));
}

Flow MacroStatement::run(Frame& frame) const {
  frame.scope->set(name_, std::make_shared<Macro>(definition_, frame));
  return Flow::next;
}

Flow CallBlock::run(Frame& frame) const {
  const Value caller = std::make_shared<Macro>(body_, frame);
  const Value value = call_->compute_with_caller(frame, caller);
  point(frame);
  print(*frame.out, value);
  return Flow::next;
}

}  // namespace luce::text::jinja
