#include <array>

#include "completion/calls/call_body.hpp"
#include "completion/calls/markup.hpp"
#include "completion/reply/marker_scan.hpp"

namespace luce::completion {

namespace {

const std::array<std::string, 2> kTags = {"<arg_key>", "</tool_call>"};
const std::array<std::string, 1> kValueEnd = {"</arg_value>"};

Match read_key(Peek& peek, std::string& key) {
  if (const Match m = peek.literal(kTags[0]); m != Match::yes) return m;
  if (const Match m = peek.until('<', key); m != Match::yes) return m;
  if (const Match m = peek.literal("/arg_key>"); m != Match::yes) return m;
  if (const Match m = peek.space(); m != Match::yes) return m;
  return peek.literal("<arg_value>");
}

}  // namespace

Match KeyValueBody::open(Incoming& incoming, size_t from, CallSink& sink) {
  Peek peek(incoming, from);
  std::string name;
  if (const Match m = peek.name(name); m != Match::yes) return m;
  const size_t body = peek.at();
  if (const Match m = peek.space(); m != Match::yes) return m;
  if (const Match m = any_of(peek, {kTags[0], kTags[1]}); m != Match::yes) return m;
  const bool has_arguments = any_of(peek, {kTags[0]}) == Match::yes;
  if (!has_arguments && !tools_.offers(name)) return Match::no;  // a word between two quoted tags
  incoming.consume(body);
  writer_.emplace(tools_, name, sink);
  part_ = Part::between;
  return Match::yes;
}

CallProgress KeyValueBody::read(Incoming& incoming, size_t from, CallSink& sink) {
  if (part_ == Part::opening) {
    const Match opened = open(incoming, from, sink);
    if (opened != Match::yes) return opened == Match::no ? CallProgress::rejected : CallProgress::waiting;
  }
  while (part_ != Part::done) {
    const bool went_on = part_ == Part::between ? read_between(incoming) : read_value(incoming);
    if (!went_on) return CallProgress::waiting;
  }
  return CallProgress::complete;
}

bool KeyValueBody::read_between(Incoming& incoming) {
  Peek peek(incoming);
  const Match space = peek.space();
  if (space == Match::unsure) return false;
  std::string key;
  Peek parameter = peek;
  const Match opening = space == Match::yes ? read_key(parameter, key) : Match::no;
  if (opening == Match::unsure) return false;
  if (opening == Match::yes) {
    incoming.consume(parameter.at());
    writer_->begin_value(key);
    part_ = Part::value;
    return true;
  }
  const Match end = any_of(peek, {kTags[1]});
  if (end == Match::unsure) return false;
  const JunkSkip skip = end == Match::yes ? JunkSkip{.overflow = true} : skip_to_tag(incoming, kTags);
  if (!skip.overflow) return skip.dropped;
  writer_->finish();
  part_ = Part::done;
  return true;
}

bool KeyValueBody::read_value(Incoming& incoming) {
  const MarkerScan scan = scan_markers(incoming.rest(), kValueEnd, false);
  writer_->text(incoming.rest().substr(0, scan.text_bytes));
  incoming.consume(scan.text_bytes);
  if (scan.marker < 0) return false;
  incoming.consume(kValueEnd[0].size());
  writer_->end_value();
  part_ = Part::between;
  return true;
}

void KeyValueBody::end_early(CallSink& /*sink*/, bool cut) {
  if (part_ == Part::between || part_ == Part::value) {
    if (!cut) writer_->finish();
    part_ = Part::done;
  }
}

}  // namespace luce::completion
