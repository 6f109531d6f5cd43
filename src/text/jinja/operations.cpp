#include "text/jinja/operations.hpp"

#include "text/jinja/sequences.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {
namespace {

bool holds(Frame& frame, Relation relation, const Value& a, const Value& b) {
  Heap& heap = frame.heap();
  switch (relation) {
    case Relation::equal: return equal(heap, a, b);
    case Relation::unequal: return !equal(heap, a, b);
    case Relation::in: return contains(heap, b, a);
    case Relation::not_in: return !contains(heap, b, a);
    default: break;
  }
  require_defined(a);
  require_defined(b);
  const bool any_nan = a.is_number() && b.is_number() && (a.as_real() != a.as_real() || b.as_real() != b.as_real());
  if (any_nan) return false;
  switch (relation) {
    case Relation::less: return order(heap, a, b, "<") < 0;
    case Relation::less_equal: return order(heap, a, b, "<=") <= 0;
    case Relation::greater: return order(heap, a, b, ">") > 0;
    default: return order(heap, a, b, ">=") >= 0;
  }
}

}  // namespace

Value Arithmetic::compute(Frame& frame) const {
  Value left = first_->evaluate(frame);
  for (const auto& [op, operand] : links_) {
    const Value right = operand->evaluate(frame);
    point(frame);
    left = calculate(frame.heap(), op, left, right);
  }
  return left;
}

Value Unary::compute(Frame& frame) const {
  const Value operand = operand_->evaluate(frame);
  point(frame);
  if (sign_ == Sign::logical_not) return !operand.truthy();
  return sign_ == Sign::minus ? negate(operand) : plus(operand);
}

Value Logic::compute(Frame& frame) const {
  for (size_t i = 0; i + 1 < operands_.size(); ++i) {
    Value operand = operands_[i]->evaluate(frame);
    if (operand.truthy() != is_and_) return operand;
  }
  return operands_.back()->evaluate(frame);
}

Value Comparison::compute(Frame& frame) const {
  Value left = first_->evaluate(frame);
  for (const auto& [relation, operand] : links_) {
    Value right = operand->evaluate(frame);
    point(frame);
    if (!holds(frame, relation, left, right)) return false;
    left = std::move(right);
  }
  return true;
}

Value Concatenation::compute(Frame& frame) const {
  StringBuilder out(frame.heap());
  for (const ExpressionPtr& part : parts_) print(out, part->evaluate(frame));
  return out.finish();
}

Value Conditional::compute(Frame& frame) const {
  if (condition_->evaluate(frame).truthy()) return yes_->evaluate(frame);
  if (no_) return no_->evaluate(frame);
  return undefined("the inline if-expression on " + describe(at()) +
                   " evaluated to false and no else section was defined.");
}

}  // namespace luce::text::jinja
