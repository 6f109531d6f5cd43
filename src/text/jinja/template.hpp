#pragma once

#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "text/jinja/heap.hpp"
#include "text/jinja/string.hpp"
#include "text/rendered_prompt.hpp"

namespace luce::text::jinja {

/// A rendering ran into one of its limits: trying again with other messages would be no better.
class LimitReached : public Error {
 public:
  explicit LimitReached(const std::string& message) : Error(ErrorKind::invalid_request, message) {}
};

/// A variable that a rendering begins with; `value` is only referred to.

struct Input {
  std::string_view name;
  const nlohmann::ordered_json& value;
  Origin origin = Origin::plain;
};

/// A parsed template in the language of Jinja2, set up as Hugging Face transformers does. Immutable; any number of
/// threads may render it at once, and one that fails leaves nothing behind.
class Template {
 public:
  /// Throws Error{invalid_file} with line and column if the source cannot be parsed.
  explicit Template(std::string_view source);
  ~Template();
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;

  /// Throws Error{invalid_request} with line, column and the template's own text if the rendering fails, and
  /// LimitReached if it takes more than it may.
  RenderedPrompt render(std::span<const Input> inputs, const std::tm& now, const Limits& limits = {}) const;
  /// True if the template mentions the name of a variable.
  bool mentions(const std::string& name) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace luce::text::jinja
