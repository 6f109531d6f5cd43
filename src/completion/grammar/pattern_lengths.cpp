#include "completion/grammar/pattern_lengths.hpp"

#include <algorithm>
#include <cstdint>

namespace luce::completion {

namespace {

using Kind = PatternNode::Kind;

constexpr int64_t kEndless = INT64_C(1) << 40;

struct Lengths {
  int64_t least = 0;
  int64_t most = 0;  // kEndless or above: unbounded
};

Lengths lengths_of(const PatternNode& node) {
  if (node.kind == Kind::characters) return {1, 1};
  if (node.kind == Kind::repeat) {
    const Lengths part = lengths_of(node.parts.front());
    const int64_t most = node.most < 0 ? (part.most > 0 ? kEndless : 0) : part.most * node.most;
    return {std::min(kEndless, part.least * node.least), std::min(kEndless, most)};
  }
  Lengths all = node.kind == Kind::choice ? Lengths{kEndless, 0} : Lengths{};
  for (const PatternNode& part : node.parts) {
    const Lengths one = lengths_of(part);
    if (node.kind == Kind::choice)
      all = {std::min(all.least, one.least), std::max(all.most, one.most)};
    else
      all = {std::min(kEndless, all.least + one.least), std::min(kEndless, all.most + one.most)};
  }
  return all;
}

bool bound_alternative(PatternNode& sequence, const LengthBounds& bounds) {
  const int64_t upper = bounds.most < 0 ? kEndless : bounds.most;
  Lengths all = lengths_of(sequence);
  if (!sequence.at_start || !sequence.at_end) all.most = kEndless;
  if (all.least >= bounds.least && (upper == kEndless || all.most <= upper)) return true;
  if (!sequence.at_start || !sequence.at_end) return false;
  PatternNode* flexible = nullptr;
  int64_t fixed = 0;
  for (PatternNode& part : sequence.parts) {
    const Lengths one = lengths_of(part);
    if (one.least == one.most) {
      fixed += one.least;
      continue;
    }
    const bool simple = part.kind == Kind::repeat && part.parts.front().kind == Kind::characters;
    if (!simple || flexible != nullptr) return false;
    flexible = &part;
  }
  if (flexible == nullptr) return false;
  const int64_t most = flexible->most < 0 ? kEndless : flexible->most;
  const int64_t new_least = std::max<int64_t>(flexible->least, bounds.least - fixed);
  const int64_t new_most = upper == kEndless ? most : std::min(most, upper - fixed);
  if (new_most < new_least) return false;
  flexible->least = static_cast<int>(new_least);
  flexible->most = new_most >= kEndless ? -1 : static_cast<int>(new_most);
  return true;
}

}  // namespace

bool bound_lengths(PatternNode& pattern, const LengthBounds& bounds) {
  PatternNode bounded = pattern;
  for (PatternNode& alternative : bounded.parts)
    if (!bound_alternative(alternative, bounds)) return false;
  pattern = std::move(bounded);
  return true;
}

}  // namespace luce::completion
