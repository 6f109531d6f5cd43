#include "text/jinja/frame.hpp"

#include "text/jinja/error.hpp"

namespace luce::text::jinja {

NameId Names::add(const std::string& name) {
  const auto [entry, added] = ids_.try_emplace(name, static_cast<NameId>(texts_.size()));
  if (added) texts_.push_back(name);
  return entry->second;
}

const NameId* Names::find(const std::string& name) const {
  const auto entry = ids_.find(name);
  return entry == ids_.end() ? nullptr : &entry->second;
}

const Value* Scope::find(NameId name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_.get()) {
    heap().work(1);
    for (const auto& [id, value] : scope->variables_) {
      if (id == name) return &value;
    }
  }
  return nullptr;
}

void Scope::set(NameId name, Value value) {
  for (auto& [id, old] : variables_) {
    if (id == name) {
      // The old value goes last, so that whatever it destroys finds this scope in order.
      std::swap(old, value);
      return;
    }
  }
  charge(sizeof(variables_[0]));
  variables_.emplace_back(name, std::move(value));
}

void Scope::surrender(std::vector<Value>& out) {
  for (auto& [id, value] : variables_) out.push_back(std::move(value));
  variables_.clear();
  if (parent_) out.push_back(Value(std::move(parent_)));
}

Step::Step(Render& render, Position at) : render_(render) {
  render.at = at;
  render.heap.work(1);
  if (render.depth >= render.heap.limits().depth)
    raise_limit("the template nests more than {} evaluations", render.depth);
  ++render.depth;
}

}  // namespace luce::text::jinja
