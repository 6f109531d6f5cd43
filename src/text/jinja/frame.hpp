#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja/containers.hpp"
#include "text/jinja/heap.hpp"
#include "text/jinja/string.hpp"
#include "text/jinja/token.hpp"

namespace luce::text::jinja {

using NameId = uint32_t;

/// The variable names of one template, numbered.
class Names {
 public:
  NameId add(const std::string& name);
  /// Nothing if the template never mentions the name.
  const NameId* find(const std::string& name) const;
  const std::string& text(NameId id) const { return texts_[id]; }

 private:
  std::unordered_map<std::string, NameId> ids_;
  std::vector<std::string> texts_;
};

/// Variables of a loop turn, a macro call, a block or the whole template.
class Scope final : public Object {
 public:
  Scope(Heap& heap, std::shared_ptr<Scope> parent) : Object(heap), parent_(std::move(parent)) { charge(sizeof(Scope)); }
  ~Scope() override { bury(); }

  std::string_view type_name() const override { return "scope"; }
  /// Null if neither this scope nor one around it has the variable.
  const Value* find(NameId name) const;
  void set(NameId name, Value value);
  /// Forgets all variables, to be used anew by the next turn of a loop.
  void clear() { variables_.clear(); }

 protected:
  void surrender(std::vector<Value>& out) override;

 private:
  std::shared_ptr<Scope> parent_;
  std::vector<std::pair<NameId, Value>> variables_;
};

/// The state of one rendering.
struct Render {
  Heap& heap;
  const Names& names;
  std::tm now{};
  Position at;    // where the latest step began, for messages
  int depth = 0;  // of nested evaluations
};

/// Where a statement or expression runs.
struct Frame {
  Render& render;
  std::shared_ptr<Scope> scope;
  StringBuilder* out;

  Heap& heap() const { return render.heap; }
  Frame inner() const { return {render, std::make_shared<Scope>(render.heap, scope), out}; }
  Frame writing_to(StringBuilder& other) const { return {render, scope, &other}; }
};

/// Counts one step and one level of nesting; throws TemplateError beyond the limits.
class Step {
 public:
  Step(Render& render, Position at);
  ~Step() { --render_.depth; }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  Render& render_;
};

}  // namespace luce::text::jinja
