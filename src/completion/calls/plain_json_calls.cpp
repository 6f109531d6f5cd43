#include "completion/calls/plain_json_calls.hpp"

#include <array>

#include "completion/calls/call_body.hpp"
#include "completion/calls/markup.hpp"

namespace luce::completion {

namespace {

const std::array<std::string, 2> kOpeners = {"<|python_tag|>", "{"};

class PlainJsonParser : public CallParser {
 public:
  explicit PlainJsonParser(const ToolSet& tools) : body_(tools, true) {}

  CallProgress read(Incoming& incoming, CallSink& sink) override {
    if (!complete_) {
      Peek peek(incoming, from_);
      if (from_ == 0 && peek.literal(kOpeners[0]) == Match::yes) {
        if (const Match m = peek.space(); m != Match::yes)
          return m == Match::no ? CallProgress::rejected : CallProgress::waiting;
        from_ = peek.at();
      }
      const CallProgress progress = body_.read(incoming, from_, sink);
      if (progress != CallProgress::complete) return progress;
      complete_ = true;
    }
    Peek peek(incoming);
    if (peek.space() == Match::unsure) return CallProgress::waiting;
    const Match more = peek.literal(";");
    if (more == Match::yes) incoming.consume(peek.at());
    return more == Match::unsure ? CallProgress::waiting : CallProgress::complete;
  }

  void end_early(CallSink& sink, bool cut) override {
    if (!complete_) body_.end_early(sink, cut);
  }

 private:
  JsonBody body_;
  size_t from_ = 0;
  bool complete_ = false;
};

}  // namespace

std::span<const std::string> PlainJsonSyntax::openers() const { return kOpeners; }

std::unique_ptr<CallParser> PlainJsonSyntax::parser(const ToolSet& tools) const {
  return std::make_unique<PlainJsonParser>(tools);
}

}  // namespace luce::completion
