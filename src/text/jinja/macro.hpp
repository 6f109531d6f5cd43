#pragma once

#include <optional>

#include "text/jinja/ast.hpp"
#include "text/jinja/expressions.hpp"

namespace luce::text::jinja {

struct Parameter {
  NameId name = 0;
  ExpressionPtr fallback;  // null if there is none
};

/// A macro as written, or the body of a call block.
struct MacroDefinition {
  std::string name;
  std::vector<Parameter> parameters;
  Body body;
  // The names of what the body asks for beside its parameters; nothing if it does not.
  std::optional<NameId> rest;          // varargs
  std::optional<NameId> keyword_rest;  // kwargs
  std::optional<NameId> caller;
};

/// A macro with the variables around its definition.
class Macro final : public Object {
 public:
  /// `definition` belongs to the template, which outlives the rendering.
  Macro(const MacroDefinition& definition, const Frame& frame);
  ~Macro() override { bury(); }

  std::string_view type_name() const override { return "Macro"; }
  bool callable() const override { return true; }
  Value call(Frame& frame, Arguments& arguments) override;
  Value attribute(Frame& frame, std::string_view name) override;

 protected:
  void surrender(std::vector<Value>& out) override;

 private:
  void bind(Frame& inner, Arguments& arguments) const;
  void bind_rest(Frame& inner, Arguments& arguments, std::vector<bool>& used) const;

  const MacroDefinition& definition_;
  std::shared_ptr<Scope> scope_;
};

/// {% macro name(parameters) %}
class MacroStatement final : public Statement {
 public:
  MacroStatement(Position at, NameId name, MacroDefinition definition)
      : Statement(at), name_(name), definition_(std::move(definition)) {}

 protected:
  Flow run(Frame& frame) const override;

 private:
  NameId name_;
  MacroDefinition definition_;
};

/// {% call(parameters) function(arguments) %}
class CallBlock final : public Statement {
 public:
  CallBlock(Position at, std::unique_ptr<const Call> call, MacroDefinition body)
      : Statement(at), call_(std::move(call)), body_(std::move(body)) {}

 protected:
  Flow run(Frame& frame) const override;

 private:
  std::unique_ptr<const Call> call_;
  MacroDefinition body_;
};

}  // namespace luce::text::jinja
