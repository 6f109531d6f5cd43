#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "completion/grammar/code_points.hpp"

namespace luce::completion {

/// A regular expression as a tree.
struct PatternNode {
  enum class Kind { characters, sequence, choice, repeat };
  Kind kind = Kind::sequence;
  CodePoints characters = {};
  std::vector<PatternNode> parts = {};  // of a sequence or choice; the one that is repeated
  int least = 0;
  int most = 0;           // -1: unbounded
  bool at_start = false;  // of an alternative: ^ before it
  bool at_end = false;    // and $ after it
};

/// A choice of sequences. Throws Error{invalid_request} that names `place` and what is not understood.
PatternNode parse_pattern(std::string_view pattern, const std::string& place);

}  // namespace luce::completion
