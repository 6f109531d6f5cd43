#pragma once

#include <memory>
#include <span>
#include <string>

#include "completion/calls/call_sink.hpp"
#include "completion/calls/tool_set.hpp"
#include "completion/reply/incoming.hpp"

namespace luce::completion {

enum class CallProgress {
  waiting,   // needs more text; nothing is read yet if the call has not begun
  rejected,  // what looked like a call is text; nothing is read. Only before the call has begun
  complete,  // everything up to the end of the call is read
};

/// Reads one piece of call markup, with one or several calls in it. Once sink.begin() was called the markup is a call
/// whatever follows: what is missing or superfluous in it is made good.
class CallParser {
 public:
  virtual ~CallParser() = default;
  /// Reads on. At the first call the text begins with an opener.
  virtual CallProgress read(Incoming& incoming, CallSink& sink) = 0;
  /// The reply ended inside the call. `cut`: by a limit, so what is missing is unknown; else it is completed.
  virtual void end_early(CallSink& sink, bool cut) = 0;
};

/// How the calls of a model look.
class CallSyntax {
 public:
  virtual ~CallSyntax() = default;
  /// Texts with which call markup begins.
  virtual std::span<const std::string> openers() const = 0;
  /// Openers count only where nothing but white space and calls came before.
  virtual bool only_at_start() const { return false; }
  virtual std::unique_ptr<CallParser> parser(const ToolSet& tools) const = 0;
};

}  // namespace luce::completion
