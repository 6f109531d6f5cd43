#include "completion/calls/deepseek_calls.hpp"

#include <array>

#include "completion/calls/call_body.hpp"
#include "completion/calls/markup.hpp"

namespace luce::completion {

namespace {

// In order: begin of all calls, of one, separator, end of one, of all.
const std::array<std::string, 5> kTokens = {"<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>",
                                            "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"};

// NAME sep, or function sep NAME and the opening of a code block; ends where the arguments begin.
Match pass_head(Peek& peek, std::string& name) {
  if (const Match m = peek.name(name); m != Match::yes) return m;
  if (const Match m = peek.literal(kTokens[2]); m != Match::yes) return m;
  if (name != "function") return Match::yes;
  if (const Match m = peek.name(name); m != Match::yes) return m;
  if (const Match m = peek.space(); m != Match::yes) return m;
  return peek.literal("```json");
}

class DeepSeekParser : public CallParser {
 public:
  CallProgress read(Incoming& incoming, CallSink& sink) override {
    while (true) {
      if (!in_arguments_) {
        const CallProgress progress = read_head(incoming, sink);
        if (progress != CallProgress::waiting || !in_arguments_) return progress;
      }
      if (!arguments_.read(incoming, sink)) return CallProgress::waiting;
      in_arguments_ = false;
      arguments_ = {};
      ++calls_;
    }
  }

  void end_early(CallSink& sink, bool cut) override {
    if (in_arguments_) arguments_.end_early(sink, cut);
  }

 private:
  // Passes what stands between calls; in_arguments_ is set when a call begins.
  CallProgress read_head(Incoming& incoming, CallSink& sink) {
    Peek peek(incoming);
    const CallProgress none = calls_ > 0 ? CallProgress::complete : CallProgress::rejected;
    for (const std::string& passed : {std::string("```"), kTokens[3]}) {
      if (calls_ == 0) continue;
      if (peek.space() == Match::unsure || peek.literal(passed) == Match::unsure) return CallProgress::waiting;
    }
    if (peek.space() == Match::unsure) return CallProgress::waiting;
    if (calls_ > 0 && peek.literal(kTokens[4]) == Match::yes) return incoming.consume(peek.at()), none;
    if (calls_ == 0 && peek.literal(kTokens[0]) == Match::unsure) return CallProgress::waiting;
    if (peek.space() == Match::unsure || any_of(peek, {kTokens[1], kTokens[4]}) == Match::unsure)
      return CallProgress::waiting;
    if (peek.literal(kTokens[1]) == Match::no) return calls_ > 0 ? (incoming.consume(peek.at()), none) : none;
    std::string name;
    const Match head = pass_head(peek, name);
    if (head == Match::no) return none;
    if (head == Match::unsure) return CallProgress::waiting;
    incoming.consume(peek.at());
    arguments_.begin(name, sink);
    in_arguments_ = true;
    return CallProgress::waiting;
  }

  int calls_ = 0;
  bool in_arguments_ = false;
  ArgumentsBody arguments_;
};

}  // namespace

std::span<const std::string> DeepSeekSyntax::openers() const { return std::span(kTokens).first(2); }

std::span<const std::string> DeepSeekSyntax::tokens() { return kTokens; }

std::unique_ptr<CallParser> DeepSeekSyntax::parser(const ToolSet& /*tools*/) const {
  return std::make_unique<DeepSeekParser>();
}

}  // namespace luce::completion
