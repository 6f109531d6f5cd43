#pragma once

#include "text/jinja/ast.hpp"
#include "text/jinja/operators.hpp"

namespace luce::text::jinja {

/// a + b - c and its kin, from left to right
class Arithmetic final : public Expression {
 public:
  using Links = std::vector<std::pair<Operator, ExpressionPtr>>;
  Arithmetic(Position at, ExpressionPtr first, Links links)
      : Expression(at), first_(std::move(first)), links_(std::move(links)) {}

 protected:
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr first_;
  Links links_;
};

enum class Sign : uint8_t { plus, minus, logical_not };

class Unary final : public Expression {
 public:
  Unary(Position at, Sign sign, ExpressionPtr operand) : Expression(at), sign_(sign), operand_(std::move(operand)) {}

 protected:
  Value compute(Frame& frame) const override;

 private:
  Sign sign_;
  ExpressionPtr operand_;
};

/// a and b and c, or with or; the value is that of the operand that decides.
class Logic final : public Expression {
 public:
  Logic(Position at, bool is_and, std::vector<ExpressionPtr> operands)
      : Expression(at), is_and_(is_and), operands_(std::move(operands)) {}

 protected:
  Value compute(Frame& frame) const override;

 private:
  bool is_and_;
  std::vector<ExpressionPtr> operands_;
};

enum class Relation : uint8_t { equal, unequal, less, less_equal, greater, greater_equal, in, not_in };

/// a < b <= c
class Comparison final : public Expression {
 public:
  using Links = std::vector<std::pair<Relation, ExpressionPtr>>;
  Comparison(Position at, ExpressionPtr first, Links links)
      : Expression(at), first_(std::move(first)), links_(std::move(links)) {}

 protected:
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr first_;
  Links links_;
};

/// a ~ b ~ c
class Concatenation final : public Expression {
 public:
  Concatenation(Position at, std::vector<ExpressionPtr> parts) : Expression(at), parts_(std::move(parts)) {}

 protected:
  Value compute(Frame& frame) const override;

 private:
  std::vector<ExpressionPtr> parts_;
};

/// a if condition else b; without else the value is undefined.
class Conditional final : public Expression {
 public:
  Conditional(Position at, ExpressionPtr condition, ExpressionPtr yes, ExpressionPtr no)
      : Expression(at), condition_(std::move(condition)), yes_(std::move(yes)), no_(std::move(no)) {}

 protected:
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr condition_;
  ExpressionPtr yes_;
  ExpressionPtr no_;
};

}  // namespace luce::text::jinja
