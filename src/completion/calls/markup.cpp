#include "completion/calls/markup.hpp"

#include <algorithm>

#include "completion/reply/marker_scan.hpp"

namespace luce::completion {

namespace {

constexpr size_t kMostJunk = 1024;

}  // namespace

Match any_of(const Peek& peek, std::initializer_list<std::string_view> alternatives) {
  Match best = Match::no;
  for (const std::string_view alternative : alternatives) best = std::max(best, Peek(peek).literal(alternative));
  return best;
}

Match pass_line_break(Peek& peek) { return std::max(peek.literal("\n"), peek.literal("\r\n")); }

size_t line_break_at_end(std::string_view text, bool complete) {
  if (text.ends_with("\r\n")) return 2;
  if (text.ends_with('\n')) return 1;
  return !complete && text.ends_with('\r') ? 1 : 0;
}

JunkSkip skip_to_tag(Incoming& incoming, std::span<const std::string> tags) {
  const std::string_view rest = incoming.rest();
  if (rest.empty()) return {.dropped = false, .overflow = incoming.closed()};
  const MarkerScan scan = scan_markers(rest.substr(1), tags, incoming.closed());
  const size_t junk = scan.text_bytes + 1;
  if (junk > kMostJunk) return {.dropped = false, .overflow = true};
  if (scan.marker < 0) return {.dropped = false, .overflow = incoming.closed()};
  incoming.consume(junk);
  return {.dropped = true, .overflow = false};
}

}  // namespace luce::completion
