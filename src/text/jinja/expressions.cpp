#include "text/jinja/expressions.hpp"

#include "text/jinja/error.hpp"
#include "text/jinja/globals.hpp"
#include "text/jinja/methods.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {

Value Variable::compute(Frame& frame) const {
  if (const Value* found = frame.scope->find(name_)) return *found;
  const std::string& name = frame.render.names.text(name_);
  if (auto global = find_global(frame.heap(), name)) return *global;
  return undefined("'" + name + "' is undefined");
}

Value Sequence::compute(Frame& frame) const {
  std::vector<Value> items;
  items.reserve(items_.size());
  for (const ExpressionPtr& item : items_) items.push_back(item->evaluate(frame));
  return make_list(frame.heap(), std::move(items), flavor_);
}

Value Mapping::compute(Frame& frame) const {
  auto dict = std::make_shared<Dict>(frame.heap());
  for (const auto& [key, value] : entries_) {
    Value key_value = key->evaluate(frame);
    dict->set(std::move(key_value), value->evaluate(frame));
  }
  return dict;
}

Value Attribute::compute(Frame& frame) const {
  const Value object = object_->evaluate(frame);
  point(frame);
  return get_attribute(frame, object, name_);
}

Value Subscript::compute(Frame& frame) const {
  const Value object = object_->evaluate(frame);
  const Value key = key_->evaluate(frame);
  point(frame);
  return get_item(frame, object, key);
}

Value Slice::compute(Frame& frame) const {
  const Value object = object_->evaluate(frame);
  SliceBounds bounds;
  if (bounds_.begin) bounds.begin = bounds_.begin->evaluate(frame);
  if (bounds_.end) bounds.end = bounds_.end->evaluate(frame);
  if (bounds_.step) bounds.step = bounds_.step->evaluate(frame);
  point(frame);
  return get_slice(frame.heap(), object, bounds);
}

Call::Call(Position at, ExpressionPtr function, ArgumentList arguments)
    : Expression(at),
      function_(std::move(function)),
      method_(dynamic_cast<const Attribute*>(function_.get())),
      arguments_(std::move(arguments)) {}

Arguments Call::arguments_with(Frame& frame, const Value& caller) const {
  Arguments arguments(arguments_, frame);
  if (!caller.is_undefined()) arguments.keyword.emplace_back(String::literal("caller"), caller);
  point(frame);
  return arguments;
}

Value Call::call(Frame& frame, const Value& function, const Value& caller) const {
  point(frame);
  require_defined(function);
  if (!function.is(Kind::object)) raise("'{}' object is not callable", type_name(function));
  Arguments arguments = arguments_with(frame, caller);
  return function.object().call(frame, arguments);
}

Value Call::compute_with_caller(Frame& frame, const Value& caller) const {
  if (method_ == nullptr) return call(frame, function_->evaluate(frame), caller);
  const Value self = method_->object().evaluate(frame);
  if (const Method method = find_method(self, method_->name())) {
    // A method that is called at once needs no object of its own.
    Arguments arguments = arguments_with(frame, caller);
    return method(frame, self, arguments);
  }
  point(frame);
  return call(frame, get_attribute(frame, self, method_->name()), caller);
}

FilterCall::FilterCall(Position at, ExpressionPtr input, std::string name, ArgumentList arguments)
    : Expression(at),
      input_(std::move(input)),
      name_(std::move(name)),
      arguments_(std::move(arguments)),
      filter_(find_filter(name_)) {}

Value FilterCall::apply(Frame& frame, const Value& input) const {
  Arguments arguments(arguments_, frame);
  point(frame);
  if (filter_ == nullptr) raise("No filter named '{}'.", name_);
  return filter_(frame, input, arguments);
}

Value FilterCall::apply_chain(Frame& frame, const Value& innermost) const {
  const auto* before = dynamic_cast<const FilterCall*>(input_.get());
  return apply(frame, before == nullptr ? innermost : before->apply_chain(frame, innermost));
}

TestCall::TestCall(Position at, ExpressionPtr input, std::string name, ArgumentList arguments)
    : Expression(at),
      input_(std::move(input)),
      name_(std::move(name)),
      arguments_(std::move(arguments)),
      test_(find_test(name_)) {}

Value TestCall::compute(Frame& frame) const {
  const Value input = input_->evaluate(frame);
  Arguments arguments(arguments_, frame);
  point(frame);
  if (test_ == nullptr) raise("No test named '{}'.", name_);
  return test_(frame, input, arguments);
}

}  // namespace luce::text::jinja
