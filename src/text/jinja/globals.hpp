#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "text/jinja/arguments.hpp"
#include "text/jinja/containers.hpp"

namespace luce::text::jinja {

/// The function that every template knows by this name: range, namespace, dict, cycler, joiner, raise_exception,
/// strftime_now. Nothing if there is none.
std::optional<Value> find_global(Heap& heap, std::string_view name);

/// An object whose attributes `set` may change; made by namespace().
class Namespace final : public Object {
 public:
  explicit Namespace(Heap& heap) : Object(heap), attributes_(std::make_shared<Dict>(heap)) {}
  ~Namespace() override { bury(); }
  std::string_view type_name() const override { return "Namespace"; }
  Value attribute(Frame& frame, std::string_view name) override;
  void set(Value name, Value value) { attributes_->set(std::move(name), std::move(value)); }
  Dict& attributes() { return *attributes_; }

 protected:
  void surrender(std::vector<Value>& out) override;

 private:
  std::shared_ptr<Dict> attributes_;
};

/// A function of ours, with what it was made for.
class BuiltIn final : public Object {
 public:
  using Function = Value (*)(Frame& frame, Arguments& arguments);
  BuiltIn(Heap& heap, Function function) : Object(heap), function_(function) {}
  std::string_view type_name() const override { return "function"; }
  bool callable() const override { return true; }
  Value call(Frame& frame, Arguments& arguments) override { return function_(frame, arguments); }

 private:
  Function function_;
};

}  // namespace luce::text::jinja
