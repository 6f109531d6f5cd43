#include <array>

#include "completion/calls/call_body.hpp"
#include "completion/calls/markup.hpp"
#include "completion/reply/marker_scan.hpp"

namespace luce::completion {

namespace {

const std::array<std::string, 4> kTags = {"<parameter=", "</parameter>", "</function>", "</tool_call>"};
const std::array<std::string, 2> kValueEnds = {"</parameter>", "</function>"};

}  // namespace

Match TaggedBody::open(Incoming& incoming, size_t from, CallSink& sink) {
  Peek peek(incoming, from);
  std::string name;
  if (const Match m = peek.literal("<function="); m != Match::yes) return m;
  if (const Match m = peek.until('>', name); m != Match::yes) return m;
  const size_t body = peek.at();
  if (must_be_offered_ && !tools_.offers(name)) return Match::no;
  if (const Match m = peek.space(); m != Match::yes) return m;
  if (const Match m = any_of(peek, {kTags[0], kTags[2], kTags[3]}); m != Match::yes) return m;
  incoming.consume(body);
  writer_.emplace(tools_, name, sink);
  part_ = Part::between;
  return Match::yes;
}

CallProgress TaggedBody::read(Incoming& incoming, size_t from, CallSink& sink) {
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

void TaggedBody::close() {
  writer_->finish();
  part_ = Part::done;
}

bool TaggedBody::read_between(Incoming& incoming) {
  Peek peek(incoming);
  const Match space = peek.space();
  if (space == Match::unsure) return false;
  std::string key;
  Peek parameter = peek;
  Match opening = space == Match::yes ? parameter.literal(kTags[0]) : Match::no;
  if (opening == Match::yes) opening = parameter.until('>', key);
  if (opening == Match::yes && pass_line_break(parameter) == Match::unsure) opening = Match::unsure;
  if (opening == Match::yes) {
    incoming.consume(parameter.at());
    writer_->begin_value(key);
    part_ = Part::value;
    return true;
  }
  if (opening == Match::unsure) return false;
  if (any_of(peek, {kTags[3]}) == Match::yes) return close(), true;
  if (peek.literal(kTags[2]) == Match::yes) return incoming.consume(peek.at()), close(), true;
  if (peek.literal(kTags[1]) == Match::yes) return incoming.consume(peek.at()), true;
  if (any_of(peek, {kTags[1], kTags[2], kTags[3]}) == Match::unsure) return false;
  return skip_junk(incoming);
}

bool TaggedBody::skip_junk(Incoming& incoming) {
  const JunkSkip skip = skip_to_tag(incoming, kTags);
  if (skip.overflow) close();
  return skip.dropped || skip.overflow;
}

bool TaggedBody::read_value(Incoming& incoming) {
  const std::string_view rest = incoming.rest();
  const MarkerScan scan = scan_markers(rest, kValueEnds, false);
  Match ends = scan.marker == 0 ? Match::yes : Match::unsure;
  const size_t end_tag_bytes = scan.marker == 0 ? kValueEnds[0].size() : 0;
  if (scan.marker == 1) {  // ends a value that was not closed only where the call ends with it
    const size_t passed = scan.text_bytes + kValueEnds[1].size();
    Peek peek(incoming, passed);
    ends = peek.space() == Match::unsure ? Match::unsure : peek.literal(kTags[3]);
    if (ends == Match::no) return writer_->text(rest.substr(0, passed)), incoming.consume(passed), true;
  }
  const std::string_view text = rest.substr(0, scan.text_bytes);
  const std::string_view value = text.substr(0, text.size() - line_break_at_end(text, ends == Match::yes));
  writer_->text(value);
  if (ends == Match::unsure) return incoming.consume(value.size()), false;
  writer_->end_value();
  incoming.consume(scan.text_bytes + end_tag_bytes);
  part_ = Part::between;
  return true;
}

void TaggedBody::end_early(CallSink& /*sink*/, bool cut) {
  if (part_ == Part::between || part_ == Part::value) {
    if (!cut) writer_->finish();
    part_ = Part::done;
  }
}

}  // namespace luce::completion
