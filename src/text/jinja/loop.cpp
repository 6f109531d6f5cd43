#include "text/jinja/loop.hpp"

#include "text/jinja/arguments.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {
namespace {

/// loop.cycle or loop.changed, before it is called.
class LoopMethod final : public Object {
 public:
  LoopMethod(Heap& heap, std::shared_ptr<Object> loop, bool cycles)
      : Object(heap), loop_(std::move(loop)), cycles_(cycles) {}
  ~LoopMethod() override { bury(); }

  std::string_view type_name() const override { return "method"; }
  bool callable() const override { return true; }
  Value call(Frame&, Arguments& arguments) override {
    auto& loop = static_cast<Loop&>(*loop_);
    return cycles_ ? loop.cycle(arguments) : Value(loop.changed(arguments));
  }

 protected:
  void surrender(std::vector<Value>& out) override {
    if (loop_) out.push_back(Value(std::move(loop_)));
  }

 private:
  std::shared_ptr<Object> loop_;
  bool cycles_;
};

}  // namespace

Flow For::run(Frame& frame) const {
  iterate_over(frame, parts_.items->evaluate(frame), 1);
  return Flow::next;
}

void For::iterate_over(Frame& frame, const Value& items, int depth) const {
  point(frame);
  const auto loop = std::make_shared<Loop>(*this, frame, iterate(frame.heap(), items), depth);
  Frame turn = frame.inner();
  bool any = false;
  while (auto item = loop->advance()) {
    any = true;
    // A macro made in the turn before may hold on to its variables.
    if (turn.scope.use_count() > 1) turn.scope = frame.inner().scope;
    turn.scope->clear();
    turn.scope->set(parts_.loop_name, Value(loop));
    point(frame);
    assign(parts_.target, std::move(*item), turn);
    if (jinja::execute(parts_.body, turn) == Flow::leave_loop) break;
  }
  if (any) return;
  Frame inner = frame.inner();
  jinja::execute(parts_.otherwise, inner);
}

Loop::Loop(const For& statement, const Frame& frame, std::vector<Value> items, int depth)
    : Object(frame.heap()),
      statement_(statement),
      render_(frame.render),
      scope_(frame.scope),
      items_(std::move(items)),
      depth_(depth) {
  charge(sizeof(Loop) + items_.size() * sizeof(Value));
}

std::optional<Value> Loop::take() {
  while (next_ < items_.size()) {
    Value item = items_[next_++];
    if (filtered_ || !statement_.parts().condition) return item;
    Frame frame{render_, std::make_shared<Scope>(heap(), scope_), nullptr};
    assign(statement_.parts().target, item, frame);
    if (statement_.parts().condition->evaluate(frame).truthy()) return item;
  }
  return std::nullopt;
}

const std::optional<Value>& Loop::peek() {
  if (!ahead_) ahead_ = take();
  return ahead_;
}

std::optional<Value> Loop::advance() {
  previous_ = std::move(current_);
  current_ = ahead_ ? std::exchange(ahead_, std::nullopt) : take();
  ++index_;
  return current_;
}

size_t Loop::length() {
  std::vector<Value> rest;
  if (peek()) rest.push_back(*std::exchange(ahead_, std::nullopt));
  while (auto item = take()) rest.push_back(std::move(*item));
  const size_t length = static_cast<size_t>(index_) + 1 + rest.size();
  // The condition was asked for all of them; what passed is put back without it.
  filtered_ = true;
  items_ = std::move(rest);
  next_ = 0;
  return length;
}

std::optional<Value> Loop::number(std::string_view name) {
  const auto index = static_cast<Integer>(index_);
  if (name == "index") return Value(index + 1);
  if (name == "index0") return Value(index);
  if (name == "length") return Value(length());
  if (name == "revindex") return Value(static_cast<Integer>(length()) - index);
  if (name == "revindex0") return Value(static_cast<Integer>(length()) - index - 1);
  if (name == "depth") return Value(depth_);
  if (name == "depth0") return Value(depth_ - 1);
  return std::nullopt;
}

Value Loop::attribute(Frame& frame, std::string_view name) {
  if (auto found = number(name)) return *found;
  if (name == "first") return index_ == 0;
  if (name == "last") return !peek().has_value();
  if (name == "previtem") return previous_ ? *previous_ : undefined("there is no previous item");
  if (name == "nextitem") return peek() ? *peek() : undefined("there is no next item");
  if (name == "cycle" || name == "changed") {
    const Value* self = frame.scope->find(statement_.parts().loop_name);
    // The name may stand for another loop by now; then there is nothing to bind to.
    if (self == nullptr || self->as_object<Loop>() != this) return undefined("this loop has ended");
    return std::make_shared<LoopMethod>(heap(), self->object_pointer(), name == "cycle");
  }
  return {};
}

Value Loop::cycle(const Arguments& arguments) const {
  if (arguments.positional.empty()) raise("no items for cycling given");
  return arguments.positional[static_cast<size_t>(index_) % arguments.positional.size()];
}

bool Loop::changed(const Arguments& arguments) {
  bool same = last_changed_ && last_changed_->size() == arguments.positional.size();
  for (size_t i = 0; same && i < last_changed_->size(); ++i) {
    same = equal(heap(), (*last_changed_)[i], arguments.positional[i]);
  }
  if (!same) last_changed_ = arguments.positional;
  return !same;
}

Value Loop::call(Frame& frame, Arguments& arguments) {
  if (!statement_.parts().recursive) raise("The loop must have the 'recursive' marker to be called recursively.");
  StringBuilder out(heap());
  Frame inner{frame.render, scope_, &out};
  statement_.iterate_over(inner, arguments.need(0, "iterable"), depth_ + 1);
  return out.finish();
}

void Loop::surrender(std::vector<Value>& out) {
  for (Value& item : items_) out.push_back(std::move(item));
  items_.clear();
  for (auto* one : {&previous_, &current_, &ahead_}) {
    if (*one) out.push_back(std::move(**one));
    one->reset();
  }
  if (last_changed_) {
    for (Value& item : *last_changed_) out.push_back(std::move(item));
    last_changed_.reset();
  }
  if (scope_) out.push_back(Value(std::move(scope_)));
}

}  // namespace luce::text::jinja
