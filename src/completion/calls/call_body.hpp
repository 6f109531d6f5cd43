#pragma once

#include <memory>
#include <optional>
#include <string>

#include "completion/calls/argument_writer.hpp"
#include "completion/calls/call_parser.hpp"
#include "completion/calls/json_extent.hpp"

namespace luce::completion {

/// One call inside its markup. `from`: where the body begins in the text that is not read yet; all before it is read
/// with it when the call begins.
class CallBody {
 public:
  virtual ~CallBody() = default;
  virtual CallProgress read(Incoming& incoming, size_t from, CallSink& sink) = 0;
  virtual void end_early(CallSink& sink, bool cut) = 0;
};

/// Tags around a function's name, its parameters' names and values:
/// <function=NAME> <parameter=KEY> VALUE </parameter> </function>.
class TaggedBody : public CallBody {
 public:
  /// `must_be_offered`: only the name of an offered function makes it a call.
  TaggedBody(const ToolSet& tools, bool must_be_offered) : tools_(tools), must_be_offered_(must_be_offered) {}
  CallProgress read(Incoming& incoming, size_t from, CallSink& sink) override;
  void end_early(CallSink& sink, bool cut) override;

 private:
  enum class Part { opening, between, value, done };

  Match open(Incoming& incoming, size_t from, CallSink& sink);
  bool read_between(Incoming& incoming);
  bool read_value(Incoming& incoming);
  bool skip_junk(Incoming& incoming);
  void close();

  const ToolSet& tools_;
  bool must_be_offered_;
  Part part_ = Part::opening;
  std::optional<ArgumentWriter> writer_;
};

/// NAME <arg_key>KEY</arg_key> <arg_value>VALUE</arg_value>, up to </tool_call>.
class KeyValueBody : public CallBody {
 public:
  explicit KeyValueBody(const ToolSet& tools) : tools_(tools) {}
  CallProgress read(Incoming& incoming, size_t from, CallSink& sink) override;
  void end_early(CallSink& sink, bool cut) override;

 private:
  enum class Part { opening, between, value, done };

  Match open(Incoming& incoming, size_t from, CallSink& sink);
  bool read_between(Incoming& incoming);
  bool read_value(Incoming& incoming);

  const ToolSet& tools_;
  Part part_ = Part::opening;
  std::optional<ArgumentWriter> writer_;
};

/// {"name": NAME, "arguments": {...}}; "parameters" for "arguments" too, in any order.
class JsonBody : public CallBody {
 public:
  JsonBody(const ToolSet& tools, bool must_be_offered) : tools_(tools), must_be_offered_(must_be_offered) {}
  CallProgress read(Incoming& incoming, size_t from, CallSink& sink) override;
  void end_early(CallSink& sink, bool cut) override;

 private:
  enum class Part { opening, arguments, closing, done };

  CallProgress open(Incoming& incoming, size_t from, CallSink& sink);
  CallProgress read_whole(Incoming& incoming, size_t from, CallSink& sink);
  void read_arguments(Incoming& incoming, CallSink& sink);
  void read_closing(Incoming& incoming, CallSink& sink);

  const ToolSet& tools_;
  bool must_be_offered_;
  Part part_ = Part::opening;
  JsonExtent arguments_;
  JsonExtent object_;      // the rest of the object after its arguments, or all of it
  size_t seen_bytes_ = 0;  // of an object that is read as a whole
};

/// The arguments alone: a JSON object after the name of a function that the caller has read.
class ArgumentsBody {
 public:
  void begin(std::string_view function, CallSink& sink) { sink.begin(function); }
  /// True when the object is complete; white space before it is passed.
  bool read(Incoming& incoming, CallSink& sink);
  void end_early(CallSink& sink, bool cut);

 private:
  JsonExtent extent_;
  bool begun_ = false;
};

/// What closes a JSON text that ends here.
std::string closing_of(const JsonExtent& extent);

}  // namespace luce::completion
