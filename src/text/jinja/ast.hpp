#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/frame.hpp"
#include "text/jinja/token.hpp"

namespace luce::text::jinja {

/// A node of the syntax tree. Trees never change once parsed, so that many threads may run one.
class Expression {
 public:
  explicit Expression(Position at) : at_(at) {}
  virtual ~Expression() = default;
  Position at() const { return at_; }
  /// The value, with the step counted.
  Value evaluate(Frame& frame) const {
    const Step step(frame.render, at_);
    return compute(frame);
  }

 protected:
  virtual Value compute(Frame& frame) const = 0;
  /// Points messages at this node again after its operands were evaluated.
  void point(Frame& frame) const { frame.render.at = at_; }

 private:
  Position at_;
};
using ExpressionPtr = std::unique_ptr<const Expression>;

enum class Flow : uint8_t { next, leave_loop, next_turn };

class Statement {
 public:
  explicit Statement(Position at) : at_(at) {}
  virtual ~Statement() = default;
  Position at() const { return at_; }
  Flow execute(Frame& frame) const {
    const Step step(frame.render, at_);
    return run(frame);
  }

 protected:
  virtual Flow run(Frame& frame) const = 0;
  void point(Frame& frame) const { frame.render.at = at_; }

 private:
  Position at_;
};
using StatementPtr = std::unique_ptr<const Statement>;
using Body = std::vector<StatementPtr>;

Flow execute(const Body& body, Frame& frame);

/// What may stand left of an assignment: a name, an attribute of a namespace, or a tuple of these.
struct Target {
  Position at;
  NameId name = 0;
  std::string attribute;      // of the object in `name`, if not empty
  std::vector<Target> parts;  // of a tuple, if not empty
};

/// Binds a value to a target; throws TemplateError if it cannot be unpacked.
void assign(const Target& target, Value value, Frame& frame);

/// Arguments of a call as written.
struct ArgumentList {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> keyword;
  ExpressionPtr rest;          // *args
  ExpressionPtr keyword_rest;  // **kwargs
};

}  // namespace luce::text::jinja
