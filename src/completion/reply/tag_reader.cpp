#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "completion/reply/answer_text.hpp"
#include "completion/reply/call_events.hpp"
#include "completion/reply/incoming.hpp"
#include "completion/reply/marker_scan.hpp"
#include "completion/reply/reasoning_text.hpp"
#include "completion/reply/reply_reader.hpp"

namespace luce::completion {

namespace {

constexpr int kMostAttempts = 16;  // at calls inside reasoning that prove to be none, since each is read anew as text

/// A call in the reasoning that is not complete yet: until it is, all of it may be reasoning.
struct Attempt {
  Attempt(const ToolSet& tools, std::unique_ptr<CallParser> call_parser)
      : parser(std::move(call_parser)), held(tools) {}
  std::unique_ptr<CallParser> parser;
  HeldCalls held;
  Incoming text;
  size_t bytes = 0;  // of the reader's text that were passed to it
};

int most_calls(const ReplyRules& rules) {
  if (!rules.shows_calls) return 0;
  return rules.one_call ? 1 : std::numeric_limits<int>::max();
}

class TagReader : public ReplyReader {
 public:
  explicit TagReader(ReplyRules rules)
      : rules_(std::move(rules)),
        answer_({.trims = rules_.chat, .stray_tag = rules_.think_open, .stop = rules_.stop}, events_),
        reasoning_(events_),
        calls_(events_, rules_.new_call_id, most_calls(rules_)) {
    if (rules_.calls != nullptr) call_markers_.assign(rules_.calls->openers().begin(), rules_.calls->openers().end());
    reasoning_markers_ = {rules_.think_close};
    reasoning_markers_.insert(reasoning_markers_.end(), call_markers_.begin(), call_markers_.end());
    phase_ = rules_.think_open.empty() ? Phase::answer : Phase::opening;
    calls_.before_call = [this] { phase_ == Phase::reasoning ? reasoning_.call_begins() : answer_.call_begins(); };
  }

  std::vector<TextEvent> push(std::string_view text, std::optional<TokenText> token) override {
    if (stopped()) return {};
    if (token) {
      const size_t begin = incoming_.position() + incoming_.rest().size();
      events_.trail().add(std::move(*token), begin, begin + text.size());
    }
    incoming_.append(text);
    read();
    return events_.take();
  }

  std::vector<TextEvent> finish(bool cut) override {
    if (stopped()) return events_.take();
    incoming_.close();
    read();
    while (attempt_) {
      give_up_attempt();
      read();
    }
    if (parser_ != nullptr) parser_->end_early(calls_, cut);
    reasoning_.finish();
    answer_.finish();
    return events_.take();
  }

  bool stopped() const override { return answer_.stopped() || (rules_.one_call && calls_.complete() > 0); }
  std::string stop_string() const override { return answer_.stop_string(); }
  size_t reasoning_end() const override {
    const bool goes_on = phase_ == Phase::reasoning || (phase_ == Phase::opening && rules_.starts_in_reasoning);
    return goes_on ? kStillReasoning : reasoning_end_;
  }
  bool has_calls() const override { return calls_.shown() > 0; }

 private:
  enum class Phase { opening, reasoning, answer };

  void read() {
    while (!stopped() && read_on()) {
    }
  }

  // One step; false when more text is needed.
  bool read_on() {
    if (phase_ == Phase::opening) return read_opening();
    if (attempt_) return read_attempt();
    if (parser_ != nullptr) return read_call();
    return phase_ == Phase::reasoning ? read_reasoning() : read_answer();
  }

  bool read_opening() {
    Peek peek(incoming_);
    if (peek.space() == Match::unsure) return false;
    const Match open = peek.literal(rules_.think_open);
    if (open == Match::unsure) return false;
    if (open == Match::yes) incoming_.consume(peek.at());
    phase_ = open == Match::yes || rules_.starts_in_reasoning ? Phase::reasoning : Phase::answer;
    return true;
  }

  bool read_reasoning() {
    const MarkerScan scan = scan_markers(incoming_.rest(), reasoning_markers_, incoming_.closed());
    reasoning_.push(incoming_.rest().substr(0, scan.text_bytes));
    incoming_.consume(scan.text_bytes);
    if (scan.marker < 0) return false;
    if (scan.marker > 0) return begin_attempt(), true;
    reasoning_end_ = incoming_.position();
    incoming_.consume(rules_.think_close.size());
    reasoning_.finish();
    answer_.after_reasoning();
    phase_ = Phase::answer;
    return true;
  }

  void begin_attempt() {
    if (++attempts_ > kMostAttempts || rules_.calls->only_at_start())
      return reasoning_.push(incoming_.rest().substr(0, 1)), incoming_.consume(1);
    attempt_ = std::make_unique<Attempt>(*rules_.tools, rules_.calls->parser(*rules_.tools));
  }

  // The first closing tag ends the reasoning, even inside of what looks like a call.
  bool read_attempt() {
    Attempt& attempt = *attempt_;
    const std::string_view rest = incoming_.rest();
    const size_t overlap = std::min(attempt.bytes, rules_.think_close.size());
    const MarkerScan scan =
        scan_markers(rest.substr(attempt.bytes - overlap), std::span(reasoning_markers_).first(1), incoming_.closed());
    const size_t border = attempt.bytes - overlap + scan.text_bytes;
    if (border > attempt.bytes) {
      attempt.text.append(rest.substr(attempt.bytes, border - attempt.bytes));
      attempt.bytes = border;
    }
    const bool ends = scan.marker == 0 || incoming_.closed();
    if (ends) attempt.text.close();
    const CallProgress progress = attempt.parser->read(attempt.text, attempt.held);
    if (progress == CallProgress::complete && attempt.held.all_offered()) return take_attempt(), true;
    const bool over = progress != CallProgress::waiting || !attempt.held.all_offered() || ends;
    if (over) give_up_attempt();
    return over;
  }

  void take_attempt() {
    incoming_.consume(attempt_->text.position());
    attempt_->held.pass_on(calls_);
    attempt_.reset();
  }

  // Its first byte is reasoning; what follows is looked at again.
  void give_up_attempt() {
    attempt_.reset();
    reasoning_.push(incoming_.rest().substr(0, 1));
    incoming_.consume(1);
  }

  bool read_answer() {
    if (rules_.calls != nullptr && rules_.calls->only_at_start()) return read_start_of_answer();
    return show_answer(scan_markers(incoming_.rest(), call_markers_, incoming_.closed()));
  }

  bool show_answer(const MarkerScan& scan) {
    const size_t at = incoming_.position();
    answer_.push(incoming_.rest().substr(0, scan.text_bytes), at);
    incoming_.consume(scan.text_bytes);
    if (scan.marker >= 0) parser_ = rules_.calls->parser(*rules_.tools);
    return scan.marker >= 0;
  }

  bool read_start_of_answer() {
    if (past_start_) return show_answer({.text_bytes = incoming_.rest().size(), .marker = -1});
    Peek peek(incoming_);
    if (peek.space() == Match::unsure) return false;
    Match best = Match::no;
    for (const std::string& marker : call_markers_) best = std::max(best, Peek(peek).literal(marker));
    if (best == Match::unsure) return false;
    past_start_ = best == Match::no;
    if (past_start_) return true;
    return show_answer({.text_bytes = peek.at(), .marker = 0});
  }

  bool read_call() {
    const CallProgress progress = parser_->read(incoming_, calls_);
    if (progress == CallProgress::waiting) return false;
    parser_.reset();
    if (progress == CallProgress::complete) return true;
    past_start_ = true;
    answer_.push(incoming_.rest().substr(0, 1), incoming_.position());
    incoming_.consume(1);
    return true;
  }

  const ReplyRules rules_;
  ReplyEvents events_;
  AnswerText answer_;
  ReasoningText reasoning_;
  CallEvents calls_;
  std::vector<std::string> call_markers_;
  std::vector<std::string> reasoning_markers_;  // the closing tag, then those of calls
  Phase phase_ = Phase::opening;
  size_t reasoning_end_ = 0;
  Incoming incoming_;
  std::unique_ptr<CallParser> parser_;  // inside a call of the answer
  std::unique_ptr<Attempt> attempt_;
  int attempts_ = 0;
  bool past_start_ = false;
};

}  // namespace

std::unique_ptr<ReplyReader> make_tag_reader(ReplyRules rules) { return std::make_unique<TagReader>(std::move(rules)); }

}  // namespace luce::completion
