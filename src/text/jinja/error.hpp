#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "base/format.hpp"

namespace luce::text::jinja {

/// A rendering or parse that cannot go on. Where it happened is added by whoever catches it.
class TemplateError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A limit was reached; unlike other errors this one ends the rendering wherever it happens.
class LimitError : public TemplateError {
 public:
  using TemplateError::TemplateError;
};

template <typename... Args>
[[noreturn]] void raise_limit(fmt::format_string<Args...> format, Args&&... args) {
  throw LimitError(fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void raise(fmt::format_string<Args...> format, Args&&... args) {
  throw TemplateError(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace luce::text::jinja
