#pragma once

#include "completion/grammar/pattern_syntax.hpp"

namespace luce::completion {

/// Characters of a text; `most` -1: unbounded.
struct LengthBounds {
  int least = 0;
  int most = -1;
};

/// Makes a pattern match only texts within bounds, if it does not already. False where that cannot be written: then
/// the pattern is as it was. What can: alternatives that are anchored at both ends and have one repetition of single
/// characters beside parts of fixed length.
bool bound_lengths(PatternNode& pattern, const LengthBounds& bounds);

}  // namespace luce::completion
