#pragma once

#include <string_view>

namespace luce::completion {

/// Takes the tool calls that a parser finds, one after the other.
class CallSink {
 public:
  virtual ~CallSink() = default;
  virtual void begin(std::string_view function) = 0;
  /// A part of the JSON text of the arguments, whole UTF-8.
  virtual void arguments(std::string_view json) = 0;
  /// The call is complete.
  virtual void end() = 0;
};

}  // namespace luce::completion
