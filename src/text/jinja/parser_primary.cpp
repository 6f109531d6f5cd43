#include "text/jinja/parser.hpp"

namespace luce::text::jinja {

NameId Parser::use_name(const std::string& name) {
  const NameId id = names_.add(name);
  for (MacroDefinition* macro : macros_) {
    if (name == "varargs") macro->rest = id;
    if (name == "kwargs") macro->keyword_rest = id;
    if (name == "caller") macro->caller = id;
  }
  return id;
}

ExpressionPtr Parser::parse_primary() {
  const Position at = current().at;
  switch (current().kind) {
    case TokenKind::name: return parse_word();
    case TokenKind::string: {
      std::string text;  // literals side by side are one
      while (current().kind == TokenKind::string) text += take().text;
      return std::make_unique<Literal>(at, String::literal(std::move(text)));
    }
    case TokenKind::integer: return std::make_unique<Literal>(at, take().integer);
    case TokenKind::real: return std::make_unique<Literal>(at, take().real);
    case TokenKind::op:
      if (at_op("(")) return parse_parenthesised();
      if (at_op("[")) return parse_list();
      if (at_op("{")) return parse_dict();
      break;
    default: break;
  }
  unexpected("an expression");
}

ExpressionPtr Parser::parse_word() {
  const Token word = take();
  const std::string& name = word.text;
  if (name == "true" || name == "True") return std::make_unique<Literal>(word.at, true);
  if (name == "false" || name == "False") return std::make_unique<Literal>(word.at, false);
  if (name == "none" || name == "None") return std::make_unique<Literal>(word.at, None{});
  return std::make_unique<Variable>(word.at, use_name(name));
}

ExpressionPtr Parser::parse_parenthesised() {
  const Position at = current().at;
  expect_op("(");
  if (take_op(")")) return std::make_unique<Sequence>(at, Flavor::tuple, std::vector<ExpressionPtr>{});
  ExpressionPtr inner = parse_tuple(true);
  expect_op(")");
  return inner;
}

ExpressionPtr Parser::parse_list() {
  const Position at = current().at;
  expect_op("[");
  std::vector<ExpressionPtr> items;
  while (!at_op("]")) {
    if (!items.empty()) expect_op(",");
    if (at_op("]")) break;
    items.push_back(parse_expression());
  }
  expect_op("]");
  return std::make_unique<Sequence>(at, Flavor::list, std::move(items));
}

ExpressionPtr Parser::parse_dict() {
  const Position at = current().at;
  expect_op("{");
  Mapping::Entries entries;
  while (!at_op("}")) {
    if (!entries.empty()) expect_op(",");
    if (at_op("}")) break;
    ExpressionPtr key = parse_expression();
    expect_op(":");
    entries.emplace_back(std::move(key), parse_expression());
  }
  expect_op("}");
  return std::make_unique<Mapping>(at, std::move(entries));
}

// Behind the dot: a name, or the number of an item.
ExpressionPtr Parser::parse_member(ExpressionPtr object) {
  const Position at = current().at;
  if (current().kind == TokenKind::integer) {
    auto index = std::make_unique<Literal>(at, take().integer);
    return std::make_unique<Subscript>(at, std::move(object), std::move(index));
  }
  return std::make_unique<Attribute>(at, std::move(object), expect_name("a name behind '.'"));
}

ExpressionPtr Parser::parse_subscript(ExpressionPtr object) {
  const Position at = current().at;
  expect_op("[");
  Slice::Bounds bounds;
  ExpressionPtr first;
  if (!at_op(":")) first = parse_tuple(true);
  if (take_op("]")) {
    if (!first) unexpected("an index");
    return std::make_unique<Subscript>(at, std::move(object), std::move(first));
  }
  bounds.begin = std::move(first);
  expect_op(":");
  if (!at_op(":") && !at_op("]")) bounds.end = parse_expression();
  if (take_op(":") && !at_op("]")) bounds.step = parse_expression();
  expect_op("]");
  return std::make_unique<Slice>(at, std::move(object), std::move(bounds));
}

std::string Parser::parse_dotted_name() {
  std::string name = expect_name("a name");
  while (take_op(".")) name += "." + expect_name("a name behind '.'");
  return name;
}

ExpressionPtr Parser::parse_filter(ExpressionPtr input) {
  const Position at = current().at;
  std::string name = parse_dotted_name();
  ArgumentList arguments;
  if (at_op("(")) arguments = parse_arguments();
  return std::make_unique<FilterCall>(at, std::move(input), std::move(name), std::move(arguments));
}

bool Parser::begins_test_argument() const {
  switch (current().kind) {
    case TokenKind::string:
    case TokenKind::integer:
    case TokenKind::real: return true;
    case TokenKind::op: return at_op("[") || at_op("{");
    case TokenKind::name: break;
    default: return false;
  }
  for (const std::string_view word : {"else", "or", "and", "if", "is", "in", "not", "recursive"}) {
    if (at_name(word)) return false;
  }
  return true;
}

ExpressionPtr Parser::parse_test(ExpressionPtr input) {
  const Position at = current().at;
  const bool negated = take_name("not");
  std::string name = parse_dotted_name();
  ArgumentList arguments;
  if (at_op("(")) {
    arguments = parse_arguments();
  } else if (begins_test_argument()) {
    arguments.positional.push_back(parse_postfix(parse_primary(), false));
  } else if (at_name("is")) {
    fail_here("tests cannot be chained with 'is'");
  }
  ExpressionPtr test = std::make_unique<TestCall>(at, std::move(input), std::move(name), std::move(arguments));
  if (!negated) return test;
  return std::make_unique<Unary>(at, Sign::logical_not, std::move(test));
}

ArgumentList Parser::parse_arguments() {
  expect_op("(");
  ArgumentList list;
  bool first = true;
  while (!at_op(")")) {
    if (!first) expect_op(",");
    first = false;
    if (at_op(")")) break;
    if (take_op("*")) {
      if (list.rest) fail_here("only one * argument is possible");
      list.rest = parse_expression();
    } else if (take_op("**")) {
      if (list.keyword_rest) fail_here("only one ** argument is possible");
      list.keyword_rest = parse_expression();
    } else if (current().kind == TokenKind::name && next().kind == TokenKind::op && next().text == "=") {
      std::string name = take().text;
      take();
      list.keyword.emplace_back(std::move(name), parse_expression());
    } else {
      if (!list.keyword.empty() || list.keyword_rest) fail_here("a positional argument follows a keyword argument");
      list.positional.push_back(parse_expression());
    }
  }
  expect_op(")");
  return list;
}

}  // namespace luce::text::jinja
