#include "completion/calls/tool_call_tag.hpp"

#include "completion/calls/call_body.hpp"
#include "completion/calls/markup.hpp"

namespace luce::completion {

namespace {

constexpr const char* kOpen = "<tool_call>";
constexpr const char* kClose = "</tool_call>";
constexpr const char* kFunction = "<function=";

class ToolCallTagParser : public CallParser {
 public:
  ToolCallTagParser(const ToolSet& tools, bool key_values) : tools_(tools), key_values_(key_values) {}

  CallProgress read(Incoming& incoming, CallSink& sink) override {
    if (body_ == nullptr) {
      const Match chosen = choose_body(incoming);
      if (chosen != Match::yes) return chosen == Match::no ? CallProgress::rejected : CallProgress::waiting;
    }
    if (!body_complete_) {
      if (const CallProgress progress = body_->read(incoming, from_, sink); progress != CallProgress::complete)
        return progress;
      body_complete_ = true;
    }
    Peek peek(incoming);
    if (peek.space() == Match::unsure) return CallProgress::waiting;
    const Match close = peek.literal(kClose);
    if (close == Match::yes) incoming.consume(peek.at());
    return close == Match::unsure ? CallProgress::waiting : CallProgress::complete;
  }

  void end_early(CallSink& sink, bool cut) override {
    if (body_ != nullptr && !body_complete_) body_->end_early(sink, cut);
  }

 private:
  Match choose_body(const Incoming& incoming) {
    Peek peek(incoming);
    const Match bare = any_of(peek, {kFunction});
    if (bare == Match::yes) return body_ = std::make_unique<TaggedBody>(tools_, true), bare;
    const Match open = peek.literal(kOpen);
    if (open != Match::yes) return std::max(open, bare);
    if (const Match m = peek.space(); m != Match::yes) return m;
    char next = 0;
    if (const Match m = peek.next(next); m != Match::yes) return m;
    from_ = peek.at();
    if (next == '{') return body_ = std::make_unique<JsonBody>(tools_, false), Match::yes;
    if (next == '<') return body_ = std::make_unique<TaggedBody>(tools_, false), Match::yes;
    if (!key_values_) return Match::no;
    return body_ = std::make_unique<KeyValueBody>(tools_), Match::yes;
  }

  const ToolSet& tools_;
  bool key_values_;
  std::unique_ptr<CallBody> body_;
  size_t from_ = 0;
  bool body_complete_ = false;
};

}  // namespace

ToolCallTagSyntax::ToolCallTagSyntax(bool key_values) : key_values_(key_values), openers_{kOpen, kFunction} {}

std::unique_ptr<CallParser> ToolCallTagSyntax::parser(const ToolSet& tools) const {
  return std::make_unique<ToolCallTagParser>(tools, key_values_);
}

}  // namespace luce::completion
