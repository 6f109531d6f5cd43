#include <algorithm>
#include <array>
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

const std::array<std::string, 1> kHeaderEnd = {"<|message|>"};
const std::array<std::string, 5> kBodyEnds = {"<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"};
constexpr size_t kMostHeader = 512;
constexpr std::string_view kRecipient = "to=functions.";

/// NAME of "to=functions.NAME", empty if the message goes to no function.
std::string recipient_of(std::string_view header) {
  const size_t found = header.find(kRecipient);
  if (found == std::string_view::npos) return {};
  const std::string_view name = header.substr(found + kRecipient.size());
  return std::string(name.substr(0, name.find_first_of(" <\n\t")));
}

class HarmonyReader : public ReplyReader {
 public:
  explicit HarmonyReader(ReplyRules rules)
      : rules_(std::move(rules)),
        answer_({.trims = true, .stop = rules_.stop}, events_),
        reasoning_(events_),
        calls_(events_, rules_.new_call_id, rules_.shows_calls ? (rules_.one_call ? 1 : 1'000'000) : 0) {
    calls_.before_call = [this] { answer_.call_begins(); };
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
    if (!cut && part_ == Part::call) end_call();
    reasoning_.finish();
    answer_.finish();
    return events_.take();
  }

  bool stopped() const override { return answer_.stopped() || (rules_.one_call && calls_.complete() > 0); }
  std::string stop_string() const override { return answer_.stop_string(); }
  size_t reasoning_end() const override { return answered_ ? reasoning_end_ : kStillReasoning; }
  bool has_calls() const override { return calls_.shown() > 0; }

 private:
  enum class Part { header, reasoning, answer, call };

  void read() {
    while (!stopped() && (part_ == Part::header ? read_header() : read_body())) {
    }
  }

  bool read_header() {
    // What is looked at has a fixed length, so that the outcome does not depend on how the text was cut.
    constexpr size_t kLongest = kMostHeader + 11;  // with "<|message|>"
    const std::string_view rest = incoming_.rest().substr(0, kLongest);
    const MarkerScan scan = scan_markers(rest, kHeaderEnd, incoming_.closed());
    if (scan.marker < 0) return (incoming_.closed() || rest.size() == kLongest) && read_no_header(rest);
    const std::string header(rest.substr(0, scan.text_bytes));
    const size_t bytes = scan.text_bytes + kHeaderEnd[0].size();
    if (std::string function = recipient_of(header); !function.empty()) {
      calls_.begin(function);
      argument_bytes_ = 0;
      return begin_body(Part::call, bytes);
    }
    return begin_body(header.find("analysis") != std::string::npos ? Part::reasoning : Part::answer, bytes);
  }

  // The text is the answer, unless it is a header that was cut: that is nothing to show.
  bool read_no_header(std::string_view rest) {
    if (rest.find("<|channel|>") == std::string_view::npos) return begin_body(Part::answer, 0);
    size_t cut = std::min(rest.size(), kMostHeader);
    while (cut < rest.size() && cut > 0 && (static_cast<unsigned char>(rest[cut]) & 0xC0) == 0x80) --cut;
    incoming_.consume(cut);
    return !incoming_.rest().empty();
  }

  bool begin_body(Part part, size_t header_bytes) {
    incoming_.consume(header_bytes);
    if (part == Part::reasoning) reasoning_.push("\n\n");  // between two messages
    if (part != Part::reasoning && !answered_) reasoning_end_ = message_at_;
    answered_ = answered_ || part != Part::reasoning;
    part_ = part;
    return true;
  }

  bool read_body() {
    const MarkerScan scan = scan_markers(incoming_.rest(), kBodyEnds, incoming_.closed());
    const std::string_view text = incoming_.rest().substr(0, scan.text_bytes);
    if (part_ == Part::reasoning) reasoning_.push(text);
    if (part_ == Part::answer) answer_.push(text, incoming_.position());
    if (part_ == Part::call) calls_.arguments(text), argument_bytes_ += text.size();
    incoming_.consume(scan.text_bytes);
    if (scan.marker < 0) return false;
    if (part_ == Part::call) end_call();
    message_at_ = incoming_.position();
    incoming_.consume(kBodyEnds[scan.marker].size());
    part_ = Part::header;
    return true;
  }

  void end_call() {
    if (argument_bytes_ == 0) calls_.arguments("{}");
    calls_.end();
  }

  const ReplyRules rules_;
  ReplyEvents events_;
  AnswerText answer_;
  ReasoningText reasoning_;
  CallEvents calls_;
  Incoming incoming_;
  Part part_ = Part::header;
  size_t argument_bytes_ = 0;  // of the open call
  bool answered_ = false;
  size_t message_at_ = 0;     // where the markup before the current message begins
  size_t reasoning_end_ = 0;  // once answered
};

}  // namespace

std::unique_ptr<ReplyReader> make_harmony_reader(ReplyRules rules) {
  return std::make_unique<HarmonyReader>(std::move(rules));
}

}  // namespace luce::completion
