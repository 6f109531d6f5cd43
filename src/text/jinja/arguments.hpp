#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/ast.hpp"
#include "text/jinja/value.hpp"

namespace luce::text::jinja {

/// Evaluated arguments of a call, and how a built-in function reads them.
class Arguments {
 public:
  Arguments() = default;
  explicit Arguments(std::vector<Value> positional_values) : positional(std::move(positional_values)) {}
  /// Evaluates a list as written.
  Arguments(const ArgumentList& list, Frame& frame);

  std::vector<Value> positional;
  std::vector<std::pair<String, Value>> keyword;

  /// The argument at a position or of a name; null if it was not given.
  const Value* find(size_t index, std::string_view name) const;
  const Value* find(std::string_view name) const;
  /// Throws TemplateError if the argument was not given.
  const Value& need(size_t index, std::string_view name) const;
  Integer integer(size_t index, std::string_view name, Integer otherwise) const;
  bool boolean(size_t index, std::string_view name, bool otherwise) const;
  String string(size_t index, std::string_view name, const String& otherwise) const;
  /// Throws TemplateError for more positional arguments than `most`.
  void at_most(size_t most, std::string_view function) const;
};

/// An integer argument; throws TemplateError for another kind.
Integer to_integer(const Value& value, std::string_view name);
/// A text argument; throws TemplateError for another kind.
const String& to_text(const Value& value, std::string_view name);
/// A count within what memory can hold, at least 0.
size_t to_count(Integer value);

}  // namespace luce::text::jinja
