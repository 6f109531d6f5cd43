#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace luce::base {

/// Why a task ended. One table (error.cpp) maps each kind to its HTTP status, OpenAI error type and metric label.
enum class ErrorKind {
  usage,             // wrong flags, YAML or environment
  invalid_request,   // a client's request breaks the API's rules
  context_overflow,  // a prompt is longer than the context
  unauthorized,      // missing or wrong API key
  forbidden,         // Host or Origin refused
  not_found,         // no such route, model or file
  too_large,         // a body or list over its limit
  unsupported,       // known, but not offered: an architecture, format or route
  overloaded,        // queue full or memory short: try again later
  invalid_file,      // a model, profile or trace breaks its format
  io,                // the operating system refused a read or write
  out_of_memory,     // a budget or allocation cannot hold what was asked
  cancelled,         // the client left or the process is stopping
  device,            // the device failed or was lost
  internal,          // a defect of ours
};

struct ErrorTraits {
  int http_status;
  const char* openai_type;
  const char* label;  // metric label and log word
};

const ErrorTraits& traits(ErrorKind kind);

/// Ends the task at hand. The message names the place, what was expected, what was found and what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, std::string param = {})
      : std::runtime_error(message), kind_(kind), param_(std::move(param)) {}

  ErrorKind kind() const { return kind_; }
  /// The request field or flag at fault, empty if none.
  const std::string& param() const { return param_; }

 private:
  ErrorKind kind_;
  std::string param_;
};

/// Throws Error with a formatted message: fail(ErrorKind::io, "cannot open {}: {}", path, why).
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace luce::base

namespace luce {
using base::Error;
using base::ErrorKind;
using base::fail;
}  // namespace luce
