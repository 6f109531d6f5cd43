#include "completion/grammar/program.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace luce::completion {

namespace {

constexpr size_t kMostNodes = 300'000;
constexpr size_t kMostRules = 20'000;

ByteSet byte_range(int first, int last) {
  ByteSet set;
  for (int byte = first; byte <= last; ++byte) set.set(static_cast<size_t>(byte));
  return set;
}

std::vector<int> utf8_bytes(char32_t code) {
  const auto c = static_cast<int>(code);
  if (c < 0x80) return {c};
  if (c < 0x800) return {0xC0 | c >> 6, 0x80 | (c & 0x3F)};
  if (c < 0x10000) return {0xE0 | c >> 12, 0x80 | (c >> 6 & 0x3F), 0x80 | (c & 0x3F)};
  return {0xF0 | c >> 18, 0x80 | (c >> 12 & 0x3F), 0x80 | (c >> 6 & 0x3F), 0x80 | (c & 0x3F)};
}

}  // namespace

GrammarBuilder::GrammarBuilder() { add({.kind = GrammarNode::Kind::back}); }

int GrammarBuilder::add(GrammarNode node) {
  if (program_.nodes.size() >= kMostNodes)
    fail(ErrorKind::invalid_request, "the output constraint is too large: more than {} places; make it simpler",
         kMostNodes);
  program_.nodes.push_back(std::move(node));
  return static_cast<int>(program_.nodes.size()) - 1;
}

int GrammarBuilder::bytes(const ByteSet& set, int next) {
  return add({.kind = GrammarNode::Kind::bytes, .next = next, .set = set});
}

int GrammarBuilder::literal(std::string_view text, int next) {
  for (auto c = text.rbegin(); c != text.rend(); ++c) {
    const int byte = static_cast<unsigned char>(*c);
    next = bytes(byte_range(byte, byte), next);
  }
  return next;
}

int GrammarBuilder::any_of(std::vector<int> branches) {
  if (branches.size() == 1) return branches.front();
  return add({.kind = GrammarNode::Kind::split, .branches = std::move(branches)});
}

int GrammarBuilder::call(int rule, int next) {
  return add({.kind = GrammarNode::Kind::call, .next = next, .rule = rule});
}

int GrammarBuilder::repeat(int rule, int least, int most, int next) {
  return add({.kind = GrammarNode::Kind::repeat, .next = next, .rule = rule, .least = least, .most = most});
}

int GrammarBuilder::declare_rule() { return rule(kReturn); }

int GrammarBuilder::rule(int first_node) {
  if (program_.rules.size() >= kMostRules)
    fail(ErrorKind::invalid_request, "the output constraint is too large: more than {} rules; make it simpler",
         kMostRules);
  program_.rules.push_back(first_node);
  return static_cast<int>(program_.rules.size()) - 1;
}

int GrammarBuilder::code_points(char32_t first, char32_t last, int next) {
  // Ranges whose first and last code points have UTF-8 of equal length, without surrogates.
  static constexpr std::array<std::pair<char32_t, char32_t>, 5> kParts = {
      {{0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, 0x10FFFF}}};
  std::vector<int> branches;
  for (const auto& [low, high] : kParts)
    if (first <= high && last >= low) branches.push_back(utf8_range(std::max(first, low), std::min(last, high), next));
  return any_of(std::move(branches));
}

// Both ends have UTF-8 of equal length. Cut where only one byte position varies freely.
int GrammarBuilder::utf8_range(char32_t first, char32_t last, int next) {
  const std::vector<int> low = utf8_bytes(first), high = utf8_bytes(last);
  size_t same = 0;
  while (same < low.size() && low[same] == high[same]) ++same;
  const size_t tail_bytes = low.size() - same - (same < low.size() ? 1 : 0);
  const char32_t span = char32_t{1} << (6 * tail_bytes);  // code points that share all but the bytes of the tail
  const char32_t first_whole = (first + span - 1) / span * span, end_whole = (last + 1) / span * span;
  const bool whole = tail_bytes == 0 || (first == first_whole && last + 1 == end_whole);
  if (!whole) {
    std::vector<int> branches;
    if (first < first_whole) branches.push_back(utf8_range(first, first_whole - 1, next));
    if (first_whole < end_whole) branches.push_back(utf8_range(first_whole, end_whole - 1, next));
    if (end_whole <= last) branches.push_back(utf8_range(end_whole, last, next));
    return any_of(std::move(branches));
  }
  for (size_t i = 0; i < tail_bytes; ++i) next = bytes(byte_range(0x80, 0xBF), next);
  if (same < low.size()) next = bytes(byte_range(low[same], high[same]), next);
  for (size_t i = same; i-- > 0;) next = bytes(byte_range(low[i], low[i]), next);
  return next;
}

int GrammarBuilder::until(std::string_view end, int next) {
  // One node for each length of `end` that the text so far ends with; a byte leads to the longest that still holds.
  const size_t length = end.size();
  std::vector<int> states(length);
  for (int& state : states) state = add({.kind = GrammarNode::Kind::split});
  states.push_back(next);
  const auto follow = [&](size_t matched, char byte) {
    const std::string text = std::string(end.substr(0, matched)) + byte;
    size_t longest = std::min(length, text.size());
    while (longest > 0 && text.substr(text.size() - longest) != end.substr(0, longest)) --longest;
    return longest;
  };
  for (size_t matched = 0; matched < length; ++matched) {
    std::vector<ByteSet> leads(length + 1);
    for (int byte = 0; byte < 256; ++byte)
      leads[follow(matched, static_cast<char>(byte))].set(static_cast<size_t>(byte));
    std::vector<int> branches;
    for (size_t to = 0; to <= length; ++to)
      if (leads[to].any()) branches.push_back(bytes(leads[to], states[to]));
    program_.nodes[states[matched]].branches = std::move(branches);
  }
  return states.front();
}

}  // namespace luce::completion
