#pragma once

#include <string>
#include <string_view>

#include "completion/calls/call_sink.hpp"
#include "completion/calls/tool_set.hpp"

namespace luce::completion {

/// Turns parameters that a model wrote as text into the JSON object of a call's arguments. Strings are passed on as
/// they come, other values once they are whole.
class ArgumentWriter {
 public:
  ArgumentWriter(const ToolSet& tools, std::string function, CallSink& sink);

  void begin_value(std::string_view parameter);
  void text(std::string_view piece);
  void end_value();
  /// Closes the object, and a value that is open.
  void finish();

 private:
  const ToolSet& tools_;
  std::string function_;
  CallSink& sink_;
  bool first_ = true;
  bool open_ = false;
  ValueRule rule_;
  std::string whole_;  // a value that cannot be passed on in parts
};

}  // namespace luce::completion
