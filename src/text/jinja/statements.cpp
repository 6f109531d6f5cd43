#include "text/jinja/statements.hpp"

#include "text/jinja/error.hpp"
#include "text/jinja/globals.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {

Flow execute(const Body& body, Frame& frame) {
  for (const StatementPtr& statement : body) {
    const Flow flow = statement->execute(frame);
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

namespace {

void assign_parts(const Target& target, const Value& value, Frame& frame) {
  std::vector<Value> items = iterate(frame.heap(), value);
  const size_t expected = target.parts.size();
  if (items.size() < expected) raise("not enough values to unpack (expected {}, got {})", expected, items.size());
  if (items.size() > expected) raise("too many values to unpack (expected {})", expected);
  for (size_t i = 0; i < expected; ++i) assign(target.parts[i], std::move(items[i]), frame);
}

void assign_attribute(const Target& target, Value value, Frame& frame) {
  const Value* owner = frame.scope->find(target.name);
  if (owner == nullptr) raise("'{}' is undefined", frame.render.names.text(target.name));
  auto* space = owner->as_object<Namespace>();
  if (space == nullptr) raise("cannot assign attribute on non-namespace object");
  space->set(String::literal(target.attribute), std::move(value));
}

}  // namespace

void assign(const Target& target, Value value, Frame& frame) {
  if (!target.parts.empty()) {
    assign_parts(target, value, frame);
  } else if (!target.attribute.empty()) {
    assign_attribute(target, std::move(value), frame);
  } else {
    frame.scope->set(target.name, std::move(value));
  }
}

Flow Data::run(Frame& frame) const {
  frame.out->append(text_);
  return Flow::next;
}

Flow Print::run(Frame& frame) const {
  const Value value = value_->evaluate(frame);
  point(frame);
  print(*frame.out, value);
  return Flow::next;
}

Flow If::run(Frame& frame) const {
  for (const auto& [condition, body] : branches_) {
    if (condition->evaluate(frame).truthy()) return jinja::execute(body, frame);
  }
  return jinja::execute(otherwise_, frame);
}

Flow Set::run(Frame& frame) const {
  Value value = value_->evaluate(frame);
  point(frame);
  assign(target_, std::move(value), frame);
  return Flow::next;
}

Value FilteredBody::render(Frame& frame) const {
  StringBuilder text(frame.heap());
  Frame inner = frame.inner().writing_to(text);
  jinja::execute(body, inner);
  Value value = text.finish();
  return filters ? filters->apply_chain(frame, value) : value;
}

Flow SetBlock::run(Frame& frame) const {
  Value value = body_.render(frame);
  point(frame);
  assign(target_, std::move(value), frame);
  return Flow::next;
}

Flow FilterBlock::run(Frame& frame) const {
  print(*frame.out, body_.render(frame));
  return Flow::next;
}

Flow Scoped::run(Frame& frame) const {
  Frame inner = frame.inner();
  for (const auto& [target, value] : bindings_) {
    Value bound = value->evaluate(frame);
    assign(target, std::move(bound), inner);
  }
  return jinja::execute(body_, inner);
}

}  // namespace luce::text::jinja
