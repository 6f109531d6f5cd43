#include <algorithm>

#include "completion/calls/call_body.hpp"
#include "completion/calls/markup.hpp"

namespace luce::completion {

namespace {

Match pass(Peek& peek, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (const Match m = peek.space(); m != Match::yes) return m;
    if (const Match m = peek.literal(part); m != Match::yes) return m;
  }
  return peek.space();
}

// {"name": "NAME", "arguments": up to the brace that opens the arguments.
Match pass_head(Peek& peek, std::string& name) {
  if (const Match m = pass(peek, {"{", "\"name\"", ":"}); m != Match::yes) return m;
  if (const Match m = peek.literal("\""); m != Match::yes) return m;
  if (const Match m = peek.until('"', name); m != Match::yes) return m;
  if (name.find('\\') != std::string::npos) return Match::no;
  if (const Match m = pass(peek, {","}); m != Match::yes) return m;
  Match key = peek.literal("\"arguments\"");
  if (key != Match::yes) key = std::max(key, peek.literal("\"parameters\""));
  if (key != Match::yes) return key;
  if (const Match m = pass(peek, {":"}); m != Match::yes) return m;
  return any_of(peek, {"{"});
}

// The arguments of a call as JSON text; empty if the object is no call.
std::string arguments_of(const Json& call) {
  if (!call.is_object() || !call.contains("name") || !call["name"].is_string()) return {};
  for (const char* key : {"arguments", "parameters"}) {
    if (!call.contains(key) || call[key].is_null()) continue;
    const Json& arguments = call[key];
    if (arguments.is_object()) return arguments.dump();
    if (!arguments.is_string()) return {};
    const std::string text = arguments.get<std::string>();  // encoded once more
    return Json::parse(text, nullptr, false).is_object() ? text : std::string();
  }
  return "{}";
}

}  // namespace

std::string closing_of(const JsonExtent& extent) {
  std::string closing = extent.in_string() ? "\"" : "";
  const std::string_view open = extent.open_brackets();
  for (auto bracket = open.rbegin(); bracket != open.rend(); ++bracket) closing.push_back(*bracket == '{' ? '}' : ']');
  return closing;
}

CallProgress JsonBody::open(Incoming& incoming, size_t from, CallSink& sink) {
  Peek peek(incoming, from);
  std::string name;
  const Match head = pass_head(peek, name);
  if (head == Match::unsure) return CallProgress::waiting;
  if (head == Match::no) return read_whole(incoming, from, sink);
  if (must_be_offered_ && !tools_.offers(name)) return CallProgress::rejected;
  incoming.consume(peek.at());
  sink.begin(name);
  part_ = Part::arguments;
  return CallProgress::complete;
}

// Keys in another order, no arguments, or arguments that are not an object: read when the object is complete.
CallProgress JsonBody::read_whole(Incoming& incoming, size_t from, CallSink& sink) {
  const std::string_view rest = incoming.rest().substr(from);
  if (!rest.starts_with("{")) return CallProgress::rejected;
  seen_bytes_ += object_.read(rest.substr(seen_bytes_));
  if (!object_.complete()) return incoming.closed() ? CallProgress::rejected : CallProgress::waiting;
  const Json call = Json::parse(rest.substr(0, seen_bytes_), nullptr, false);
  const std::string arguments = arguments_of(call);
  if (arguments.empty() || (must_be_offered_ && !tools_.offers(call["name"].get<std::string>())))
    return CallProgress::rejected;
  incoming.consume(from + seen_bytes_);
  sink.begin(call["name"].get<std::string>());
  sink.arguments(arguments);
  sink.end();
  part_ = Part::done;
  return CallProgress::complete;
}

CallProgress JsonBody::read(Incoming& incoming, size_t from, CallSink& sink) {
  if (part_ == Part::opening) {
    if (const CallProgress opened = open(incoming, from, sink); opened != CallProgress::complete) return opened;
  }
  if (part_ == Part::arguments) read_arguments(incoming, sink);
  if (part_ == Part::closing) read_closing(incoming, sink);
  return part_ == Part::done ? CallProgress::complete : CallProgress::waiting;
}

void JsonBody::read_arguments(Incoming& incoming, CallSink& sink) {
  const std::string_view rest = incoming.rest();
  const size_t bytes = arguments_.read(rest);
  sink.arguments(rest.substr(0, bytes));
  incoming.consume(bytes);
  if (!arguments_.complete()) return;
  part_ = Part::closing;
  object_ = JsonExtent();
}

// The brace of the call; keys after the arguments are dropped. A brace that is missing is not waited for.
void JsonBody::read_closing(Incoming& incoming, CallSink& sink) {
  if (object_.open_brackets().empty()) {
    Peek peek(incoming);
    if (peek.space() == Match::unsure) return;
    char next = 0;
    if (peek.next(next) == Match::unsure) return;
    if (next == ',' || next == '}') object_.read("{");
  }
  if (!object_.open_brackets().empty()) {
    incoming.consume(object_.read(incoming.rest()));
    if (!object_.complete()) return;
  }
  sink.end();
  part_ = Part::done;
}

void JsonBody::end_early(CallSink& sink, bool cut) {
  if (part_ == Part::opening || part_ == Part::done) return;
  if (!cut) sink.arguments(closing_of(arguments_));
  if (!cut || part_ == Part::closing) sink.end();
  part_ = Part::done;
}

bool ArgumentsBody::read(Incoming& incoming, CallSink& sink) {
  if (!begun_) {
    Peek peek(incoming);
    const Match space = peek.space();
    char next = 0;
    if (space == Match::unsure || peek.next(next) == Match::unsure) return false;
    begun_ = true;
    if (next != '{') return sink.arguments("{}"), sink.end(), true;
    incoming.consume(space == Match::yes ? peek.at() : 0);
  }
  const std::string_view rest = incoming.rest();
  const size_t bytes = extent_.read(rest);
  sink.arguments(rest.substr(0, bytes));
  incoming.consume(bytes);
  if (extent_.complete()) sink.end();
  return extent_.complete();
}

void ArgumentsBody::end_early(CallSink& sink, bool cut) {
  if (cut || extent_.complete()) return;
  sink.arguments(extent_.open_brackets().empty() ? "{}" : closing_of(extent_));
  sink.end();
}

}  // namespace luce::completion
