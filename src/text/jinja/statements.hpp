#pragma once

#include "text/jinja/ast.hpp"
#include "text/jinja/expressions.hpp"

namespace luce::text::jinja {

/// Template text.
class Data final : public Statement {
 public:
  Data(Position at, std::string text) : Statement(at), text_(std::move(text)) {}

 protected:
  Flow run(Frame& frame) const override;

 private:
  std::string text_;
};

/// {{ value }}
class Print final : public Statement {
 public:
  Print(Position at, ExpressionPtr value) : Statement(at), value_(std::move(value)) {}

 protected:
  Flow run(Frame& frame) const override;

 private:
  ExpressionPtr value_;
};

/// {% if %} with its elif parts
class If final : public Statement {
 public:
  using Branches = std::vector<std::pair<ExpressionPtr, Body>>;
  If(Position at, Branches branches, Body otherwise)
      : Statement(at), branches_(std::move(branches)), otherwise_(std::move(otherwise)) {}

 protected:
  Flow run(Frame& frame) const override;

 private:
  Branches branches_;
  Body otherwise_;
};

/// {% set target = value %}
class Set final : public Statement {
 public:
  Set(Position at, Target target, ExpressionPtr value)
      : Statement(at), target_(std::move(target)), value_(std::move(value)) {}

 protected:
  Flow run(Frame& frame) const override;

 private:
  Target target_;
  ExpressionPtr value_;
};

/// Text of a body, through filters if there are any, which the last filter's chain leads back to.
struct FilteredBody {
  Body body;
  std::unique_ptr<const FilterCall> filters;

  Value render(Frame& frame) const;
};

/// {% set target %} body {% endset %}
class SetBlock final : public Statement {
 public:
  SetBlock(Position at, Target target, FilteredBody body)
      : Statement(at), target_(std::move(target)), body_(std::move(body)) {}

 protected:
  Flow run(Frame& frame) const override;

 private:
  Target target_;
  FilteredBody body_;
};

/// {% filter name %} body {% endfilter %}
class FilterBlock final : public Statement {
 public:
  FilterBlock(Position at, FilteredBody body) : Statement(at), body_(std::move(body)) {}

 protected:
  Flow run(Frame& frame) const override;

 private:
  FilteredBody body_;
};

/// {% with a = 1 %}, {% block %} and {% generation %}: a body with variables of its own
class Scoped final : public Statement {
 public:
  using Bindings = std::vector<std::pair<Target, ExpressionPtr>>;
  Scoped(Position at, Bindings bindings, Body body)
      : Statement(at), bindings_(std::move(bindings)), body_(std::move(body)) {}

 protected:
  Flow run(Frame& frame) const override;

 private:
  Bindings bindings_;
  Body body_;
};

/// {% break %} and {% continue %}
class Jump final : public Statement {
 public:
  Jump(Position at, Flow flow) : Statement(at), flow_(flow) {}

 protected:
  Flow run(Frame&) const override { return flow_; }

 private:
  Flow flow_;
};

}  // namespace luce::text::jinja
