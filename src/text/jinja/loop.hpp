#pragma once

#include <optional>

#include "text/jinja/ast.hpp"

namespace luce::text::jinja {

/// {% for target in items if condition recursive %}
class For final : public Statement {
 public:
  struct Parts {
    Target target;
    ExpressionPtr items;
    ExpressionPtr condition;  // null if there is none
    Body body;
    Body otherwise;
    NameId loop_name = 0;
    bool recursive = false;
  };
  For(Position at, Parts parts) : Statement(at), parts_(std::move(parts)) {}
  const Parts& parts() const { return parts_; }
  /// Runs the loop over these items; `depth` is 1 for the outermost.
  void iterate_over(Frame& frame, const Value& items, int depth) const;

 protected:
  Flow run(Frame& frame) const override;

 private:
  Parts parts_;
};

/// The variable `loop`. Items are taken one by one, since what the body does may change the loop's condition.
class Loop final : public Object {
 public:
  Loop(const For& statement, const Frame& frame, std::vector<Value> items, int depth);
  ~Loop() override { bury(); }

  std::string_view type_name() const override { return "LoopContext"; }
  bool callable() const override { return true; }
  /// loop(items), of a recursive loop
  Value call(Frame& frame, Arguments& arguments) override;
  Value attribute(Frame& frame, std::string_view name) override;

  /// Moves to the next item; nothing at the end.
  std::optional<Value> advance();
  /// loop.cycle(a, b)
  Value cycle(const Arguments& arguments) const;
  /// loop.changed(a, b)
  bool changed(const Arguments& arguments);

 protected:
  void surrender(std::vector<Value>& out) override;

 private:
  std::optional<Value> take();
  const std::optional<Value>& peek();
  size_t length();
  std::optional<Value> number(std::string_view name);

  const For& statement_;
  Render& render_;
  std::shared_ptr<Scope> scope_;  // around the loop
  std::vector<Value> items_;
  size_t next_ = 0;        // of items_
  bool filtered_ = false;  // items_ have all passed the condition
  int64_t index_ = -1;
  int depth_;
  std::optional<Value> previous_;
  std::optional<Value> current_;
  std::optional<Value> ahead_;
  std::optional<std::vector<Value>> last_changed_;
};

}  // namespace luce::text::jinja
