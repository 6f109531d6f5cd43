#include "text/jinja/parser.hpp"

namespace luce::text::jinja {

Target Parser::parse_single_target() {
  Target target;
  target.at = current().at;
  if (take_op("(")) {
    const Nesting nesting(*this);
    target = parse_target();
    expect_op(")");
    return target;
  }
  const std::string name = expect_name("a variable to assign to");
  for (const char* word :
       {"true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else"}) {
    if (name == word) raise_at(target.at, "cannot assign to '" + name + "'");
  }
  target.name = names_.add(name);
  if (take_op(".")) target.attribute = expect_name("an attribute behind '.'");
  return target;
}

Target Parser::parse_target() {
  Target first = parse_single_target();
  if (!at_op(",")) return first;
  Target tuple;
  tuple.at = first.at;
  tuple.parts.push_back(std::move(first));
  while (take_op(",")) {
    if (at_name("in") || at_op("=") || at_op(")") || at_end_of_tag()) break;
    tuple.parts.push_back(parse_single_target());
  }
  return tuple;
}

StatementPtr Parser::parse_set(Position at) {
  Target target = parse_target();
  if (take_op("=")) {
    ExpressionPtr value = parse_tuple(true);
    end_tag();
    return std::make_unique<Set>(at, std::move(target), std::move(value));
  }
  FilteredBody body;
  ExpressionPtr filters;
  while (take_op("|")) filters = parse_filter(std::move(filters));
  body.filters.reset(static_cast<const FilterCall*>(filters.release()));
  end_tag();
  body.body = parse_body({"set", at, {"endset"}});
  take();
  end_tag();
  return std::make_unique<SetBlock>(at, std::move(target), std::move(body));
}

StatementPtr Parser::parse_filter_block(Position at) {
  FilteredBody body;
  ExpressionPtr filters;
  do filters = parse_filter(std::move(filters));
  while (take_op("|"));
  body.filters.reset(static_cast<const FilterCall*>(filters.release()));
  end_tag();
  body.body = parse_body({"filter", at, {"endfilter"}});
  take();
  end_tag();
  return std::make_unique<FilterBlock>(at, std::move(body));
}

std::vector<Parameter> Parser::parse_parameters() {
  std::vector<Parameter> parameters;
  expect_op("(");
  while (!at_op(")")) {
    if (!parameters.empty()) expect_op(",");
    if (at_op(")")) break;
    Parameter parameter;
    parameter.name = names_.add(expect_name("the name of a parameter"));
    if (take_op("=")) {
      parameter.fallback = parse_expression();
    } else if (!parameters.empty() && parameters.back().fallback) {
      fail_here("a parameter without a default follows one with a default");
    }
    parameters.push_back(std::move(parameter));
  }
  expect_op(")");
  return parameters;
}

// The body of a macro is a world of its own: no loop around it can be left from inside.
Body Parser::parse_macro_body(MacroDefinition& definition, const OpenTag& open) {
  const int loops_around = loops_;
  loops_ = 0;
  macros_.push_back(&definition);
  Body body = parse_body(open);
  macros_.pop_back();
  loops_ = loops_around;
  take();
  end_tag();
  return body;
}

StatementPtr Parser::parse_macro(Position at) {
  MacroDefinition definition;
  definition.name = expect_name("the name of a macro");
  const NameId name = names_.add(definition.name);
  definition.parameters = parse_parameters();
  end_tag();
  definition.body = parse_macro_body(definition, {"macro", at, {"endmacro"}});
  return std::make_unique<MacroStatement>(at, name, std::move(definition));
}

StatementPtr Parser::parse_call(Position at) {
  MacroDefinition definition;
  definition.name = "caller";
  if (at_op("(")) definition.parameters = parse_parameters();
  ExpressionPtr call = parse_expression();
  const auto* as_call = dynamic_cast<const Call*>(call.get());
  if (as_call == nullptr) raise_at(at, "'call' needs the call of a macro");
  call.release();
  std::unique_ptr<const Call> owned(as_call);
  end_tag();
  definition.body = parse_macro_body(definition, {"call", at, {"endcall"}});
  return std::make_unique<CallBlock>(at, std::move(owned), std::move(definition));
}

StatementPtr Parser::parse_with(Position at) {
  Scoped::Bindings bindings;
  while (!at_end_of_tag()) {
    if (!bindings.empty()) expect_op(",");
    Target target = parse_single_target();
    expect_op("=");
    bindings.emplace_back(std::move(target), parse_expression());
  }
  end_tag();
  Body body = parse_body({"with", at, {"endwith"}});
  take();
  end_tag();
  return std::make_unique<Scoped>(at, std::move(bindings), std::move(body));
}

StatementPtr Parser::parse_block(Position at) {
  const std::string name = expect_name("the name of a block");
  take_name("scoped");
  take_name("required");
  end_tag();
  Body body = parse_body({"block", at, {"endblock"}});
  take();
  if (!at_end_of_tag() && !take_name(name)) unexpected("'" + name + "'");
  end_tag();
  return std::make_unique<Scoped>(at, Scoped::Bindings{}, std::move(body));
}

StatementPtr Parser::parse_generation(Position at) {
  end_tag();
  Body body = parse_body({"generation", at, {"endgeneration"}});
  take();
  end_tag();
  return std::make_unique<Scoped>(at, Scoped::Bindings{}, std::move(body));
}

// Nothing is escaped in a prompt; templates that say so are taken at their word.
StatementPtr Parser::parse_autoescape(Position at) {
  if (!take_name("false") && !take_name("False")) raise_at(at, "'autoescape' is only possible with false");
  end_tag();
  Body body = parse_body({"autoescape", at, {"endautoescape"}});
  take();
  end_tag();
  return std::make_unique<Scoped>(at, Scoped::Bindings{}, std::move(body));
}

}  // namespace luce::text::jinja
