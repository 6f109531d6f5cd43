#pragma once

#include "text/jinja/ast.hpp"
#include "text/jinja/filters.hpp"
#include "text/jinja/operators.hpp"
#include "text/jinja/tests.hpp"

namespace luce::text::jinja {

class Literal final : public Expression {
 public:
  Literal(Position at, Value value) : Expression(at), value_(std::move(value)) {}

 protected:
  Value compute(Frame&) const override { return value_; }

 private:
  Value value_;  // no container, so that threads may share it
};

class Variable final : public Expression {
 public:
  Variable(Position at, NameId name) : Expression(at), name_(name) {}

 protected:
  Value compute(Frame& frame) const override;

 private:
  NameId name_;
};

/// [a, b] or (a, b)
class Sequence final : public Expression {
 public:
  Sequence(Position at, Flavor flavor, std::vector<ExpressionPtr> items)
      : Expression(at), flavor_(flavor), items_(std::move(items)) {}

 protected:
  Value compute(Frame& frame) const override;

 private:
  Flavor flavor_;
  std::vector<ExpressionPtr> items_;
};

class Mapping final : public Expression {
 public:
  using Entries = std::vector<std::pair<ExpressionPtr, ExpressionPtr>>;
  Mapping(Position at, Entries entries) : Expression(at), entries_(std::move(entries)) {}

 protected:
  Value compute(Frame& frame) const override;

 private:
  Entries entries_;
};

/// a.name
class Attribute final : public Expression {
 public:
  Attribute(Position at, ExpressionPtr object, std::string name)
      : Expression(at), object_(std::move(object)), name_(std::move(name)) {}
  const Expression& object() const { return *object_; }
  const std::string& name() const { return name_; }

 protected:
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr object_;
  std::string name_;
};

/// a[key]
class Subscript final : public Expression {
 public:
  Subscript(Position at, ExpressionPtr object, ExpressionPtr key)
      : Expression(at), object_(std::move(object)), key_(std::move(key)) {}

 protected:
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr object_;
  ExpressionPtr key_;
};

/// a[begin:end:step]; parts that are left out are null.
class Slice final : public Expression {
 public:
  struct Bounds {
    ExpressionPtr begin;
    ExpressionPtr end;
    ExpressionPtr step;
  };
  Slice(Position at, ExpressionPtr object, Bounds bounds)
      : Expression(at), object_(std::move(object)), bounds_(std::move(bounds)) {}

 protected:
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr object_;
  Bounds bounds_;
};

class Call final : public Expression {
 public:
  Call(Position at, ExpressionPtr function, ArgumentList arguments);
  /// Calls with one more keyword argument, the body of a call block.
  Value compute_with_caller(Frame& frame, const Value& caller) const;

 protected:
  Value compute(Frame& frame) const override { return compute_with_caller(frame, Undefined{}); }

 private:
  Arguments arguments_with(Frame& frame, const Value& caller) const;
  Value call(Frame& frame, const Value& function, const Value& caller) const;

  ExpressionPtr function_;
  const Attribute* method_;  // the function, if it is an attribute
  ArgumentList arguments_;
};

/// input|name(arguments); the input is null in filter blocks, where apply() is used.
class FilterCall final : public Expression {
 public:
  FilterCall(Position at, ExpressionPtr input, std::string name, ArgumentList arguments);
  Value apply(Frame& frame, const Value& input) const;
  /// Runs the filters before this one on `innermost`, then this one.
  Value apply_chain(Frame& frame, const Value& innermost) const;

 protected:
  Value compute(Frame& frame) const override { return apply(frame, input_->evaluate(frame)); }

 private:
  ExpressionPtr input_;
  std::string name_;
  ArgumentList arguments_;
  Filter filter_;  // null if unknown
};

/// input is name(arguments)
class TestCall final : public Expression {
 public:
  TestCall(Position at, ExpressionPtr input, std::string name, ArgumentList arguments);

 protected:
  Value compute(Frame& frame) const override;

 private:
  ExpressionPtr input_;
  std::string name_;
  ArgumentList arguments_;
  Test test_;  // null if unknown
};

}  // namespace luce::text::jinja
