#include <array>
#include <optional>

#include "text/jinja/parser.hpp"

namespace luce::text::jinja {
namespace {

std::optional<Relation> relation_of(const Token& token) {
  if (token.kind != TokenKind::op) return std::nullopt;
  constexpr std::array<std::pair<std::string_view, Relation>, 6> kRelations = {{{"==", Relation::equal},
                                                                                {"!=", Relation::unequal},
                                                                                {"<", Relation::less},
                                                                                {"<=", Relation::less_equal},
                                                                                {">", Relation::greater},
                                                                                {">=", Relation::greater_equal}}};
  for (const auto& [symbol, relation] : kRelations) {
    if (token.text == symbol) return relation;
  }
  return std::nullopt;
}

std::optional<Operator> product_of(const Token& token) {
  if (token.kind != TokenKind::op) return std::nullopt;
  if (token.text == "*") return Operator::multiply;
  if (token.text == "/") return Operator::divide;
  if (token.text == "//") return Operator::floor_divide;
  if (token.text == "%") return Operator::modulo;
  return std::nullopt;
}

}  // namespace

ExpressionPtr Parser::parse_tuple(bool with_conditional) {
  const Position at = current().at;
  std::vector<ExpressionPtr> items;
  const auto item = [&] { return with_conditional ? parse_expression() : parse_or(); };
  items.push_back(item());
  bool is_tuple = false;
  while (take_op(",")) {
    is_tuple = true;
    const bool ends = current().kind == TokenKind::block_end || current().kind == TokenKind::variable_end || at_op(")");
    if (ends || at_op("=")) break;
    items.push_back(item());
  }
  if (!is_tuple) return std::move(items.front());
  return std::make_unique<Sequence>(at, Flavor::tuple, std::move(items));
}

ExpressionPtr Parser::parse_expression() { return parse_conditional(); }

ExpressionPtr Parser::parse_conditional() {
  const Nesting nesting(*this);
  const Position at = current().at;
  ExpressionPtr value = parse_or();
  for (int links = 0; take_name("if"); ++links) {
    if (links > kMaxPostfix) fail_here("this expression is too long");
    ExpressionPtr condition = parse_or();
    ExpressionPtr otherwise = take_name("else") ? parse_conditional() : nullptr;
    value = std::make_unique<Conditional>(at, std::move(condition), std::move(value), std::move(otherwise));
  }
  return value;
}

ExpressionPtr Parser::parse_or() {
  const Position at = current().at;
  std::vector<ExpressionPtr> operands;
  do operands.push_back(parse_and());
  while (take_name("or"));
  if (operands.size() == 1) return std::move(operands.front());
  return std::make_unique<Logic>(at, false, std::move(operands));
}

ExpressionPtr Parser::parse_and() {
  const Position at = current().at;
  std::vector<ExpressionPtr> operands;
  do operands.push_back(parse_not());
  while (take_name("and"));
  if (operands.size() == 1) return std::move(operands.front());
  return std::make_unique<Logic>(at, true, std::move(operands));
}

ExpressionPtr Parser::parse_not() {
  const Position at = current().at;
  if (!take_name("not")) return parse_comparison();
  const Nesting nesting(*this);
  return std::make_unique<Unary>(at, Sign::logical_not, parse_not());
}

ExpressionPtr Parser::parse_comparison() {
  const Position at = current().at;
  ExpressionPtr first = parse_sum();
  Comparison::Links links;
  while (true) {
    if (const auto relation = relation_of(current())) {
      take();
      links.emplace_back(*relation, parse_sum());
    } else if (take_name("in")) {
      links.emplace_back(Relation::in, parse_sum());
    } else if (at_name("not") && next().kind == TokenKind::name && next().text == "in") {
      take();
      take();
      links.emplace_back(Relation::not_in, parse_sum());
    } else {
      break;
    }
  }
  if (links.empty()) return first;
  return std::make_unique<Comparison>(at, std::move(first), std::move(links));
}

ExpressionPtr Parser::parse_sum() {
  ExpressionPtr first = parse_concatenation();
  const Position at = current().at;
  Arithmetic::Links links;
  while (at_op("+") || at_op("-")) {
    const Operator op = take().text == "+" ? Operator::add : Operator::subtract;
    links.emplace_back(op, parse_concatenation());
  }
  if (links.empty()) return first;
  return std::make_unique<Arithmetic>(at, std::move(first), std::move(links));
}

ExpressionPtr Parser::parse_concatenation() {
  const Position at = current().at;
  std::vector<ExpressionPtr> parts;
  do parts.push_back(parse_product());
  while (take_op("~"));
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<Concatenation>(at, std::move(parts));
}

ExpressionPtr Parser::parse_product() {
  ExpressionPtr first = parse_power();
  const Position at = current().at;
  Arithmetic::Links links;
  while (const auto op = product_of(current())) {
    take();
    links.emplace_back(*op, parse_power());
  }
  if (links.empty()) return first;
  return std::make_unique<Arithmetic>(at, std::move(first), std::move(links));
}

ExpressionPtr Parser::parse_power() {
  ExpressionPtr first = parse_unary(true);
  const Position at = current().at;
  Arithmetic::Links links;
  while (take_op("**")) links.emplace_back(Operator::power, parse_unary(true));
  if (links.empty()) return first;
  return std::make_unique<Arithmetic>(at, std::move(first), std::move(links));
}

ExpressionPtr Parser::parse_unary(bool with_filters) {
  const Nesting nesting(*this);
  const Position at = current().at;
  ExpressionPtr node;
  if (take_op("-")) {
    node = std::make_unique<Unary>(at, Sign::minus, parse_unary(false));
  } else if (take_op("+")) {
    node = std::make_unique<Unary>(at, Sign::plus, parse_unary(false));
  } else {
    node = parse_primary();
  }
  return parse_postfix(std::move(node), with_filters);
}

// Members and subscripts come first; from the first filter or test on only these and calls follow.
ExpressionPtr Parser::parse_postfix(ExpressionPtr node, bool with_filters) {
  bool filtered = false;
  for (int links = 0;; ++links) {
    if (links > kMaxPostfix) fail_here("this expression is too long");
    if (!filtered && take_op(".")) {
      node = parse_member(std::move(node));
    } else if (!filtered && at_op("[")) {
      node = parse_subscript(std::move(node));
    } else if (at_op("(")) {
      const Position at = current().at;
      node = std::make_unique<Call>(at, std::move(node), parse_arguments());
    } else if (with_filters && take_op("|")) {
      node = parse_filter(std::move(node));
      filtered = true;
    } else if (with_filters && take_name("is")) {
      node = parse_test(std::move(node));
      filtered = true;
    } else {
      return node;
    }
  }
}

}  // namespace luce::text::jinja
