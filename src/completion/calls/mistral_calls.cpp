#include "completion/calls/mistral_calls.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "completion/calls/call_body.hpp"
#include "completion/calls/markup.hpp"

namespace luce::completion {

namespace {

const std::array<std::string, 1> kOpeners = {"[TOOL_CALLS]"};

class MistralParser : public CallParser {
 public:
  explicit MistralParser(const ToolSet& tools) : tools_(tools) {}

  CallProgress read(Incoming& incoming, CallSink& sink) override {
    if (form_ == Form::open) {
      const Match chosen = choose(incoming, sink);
      if (chosen != Match::yes) return chosen == Match::no ? CallProgress::rejected : CallProgress::waiting;
    }
    if (form_ == Form::named) return arguments_.read(incoming, sink) ? CallProgress::complete : CallProgress::waiting;
    return read_list(incoming, sink);
  }

  void end_early(CallSink& sink, bool cut) override {
    if (form_ == Form::named) arguments_.end_early(sink, cut);
    if (body_) body_->end_early(sink, cut);
  }

 private:
  enum class Form { open, list, named };

  Match choose(Incoming& incoming, CallSink& sink) {
    Peek peek(incoming);
    if (const Match m = peek.literal(kOpeners[0]); m != Match::yes) return m;
    if (const Match m = peek.space(); m != Match::yes) return m;
    const Match list = peek.literal("[");
    if (list == Match::unsure) return list;
    if (list == Match::yes) return begin_list(peek);
    std::string name, id;
    if (const Match m = peek.name(name); m != Match::yes) return m;
    if (any_of(peek, {"[CALL_ID]", "[ARGS]"}) == Match::unsure) return Match::unsure;
    if (peek.literal("[CALL_ID]") == Match::yes)
      if (const Match m = peek.name(id); m != Match::yes) return m;
    const Match arguments = std::max(peek.literal("[ARGS]"), any_of(peek, {"{"}));
    if (arguments != Match::yes) return arguments;
    incoming.consume(peek.at());
    arguments_.begin(name, sink);
    form_ = Form::named;
    return Match::yes;
  }

  Match begin_list(const Peek& peek) {
    from_ = peek.at();
    form_ = Form::list;
    return Match::yes;
  }

  // The bracket that opens the list is read with the first call, so that until then all can still be text.
  CallProgress read_list(Incoming& incoming, CallSink& sink) {
    while (true) {
      if (!body_) {
        Peek peek(incoming, from_);
        if (peek.space() == Match::unsure) return CallProgress::waiting;
        body_.emplace(tools_, false);
        from_ = peek.at();
      }
      const CallProgress progress = body_->read(incoming, from_, sink);
      if (progress != CallProgress::complete)
        return progress == CallProgress::rejected && calls_ > 0 ? CallProgress::complete : progress;
      if (const Match more = read_separator(incoming); more != Match::yes)
        return more == Match::no ? CallProgress::complete : CallProgress::waiting;
    }
  }

  // Yes when another call follows.
  Match read_separator(Incoming& incoming) {
    Peek peek(incoming);
    if (peek.space() == Match::unsure) return Match::unsure;
    char next = 0;
    if (peek.next(next) == Match::unsure) return Match::unsure;
    if (next == ']' || next == ',') incoming.consume(peek.at() + 1);
    if (next != ',') return Match::no;
    ++calls_;
    from_ = 0;
    body_.reset();
    return Match::yes;
  }

  const ToolSet& tools_;
  Form form_ = Form::open;
  size_t from_ = 0;
  int calls_ = 0;
  std::optional<JsonBody> body_;
  ArgumentsBody arguments_;
};

}  // namespace

std::span<const std::string> MistralSyntax::openers() const { return kOpeners; }

std::unique_ptr<CallParser> MistralSyntax::parser(const ToolSet& tools) const {
  return std::make_unique<MistralParser>(tools);
}

}  // namespace luce::completion
