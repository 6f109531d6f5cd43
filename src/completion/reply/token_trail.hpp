#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "completion/text_event.hpp"

namespace luce::completion {

/// Remembers which tokens gave which bytes of the whole text, until those bytes are shown or passed.
class TokenTrail {
 public:
  /// The token that gave bytes [begin, end).
  void add(TokenText token, size_t begin, size_t end);
  /// Tokens of the bytes [begin, end) that are shown now; each token is given once, those before are dropped.
  std::vector<TokenText> take(size_t begin, size_t end);

 private:
  struct Step {
    TokenText token;
    size_t begin;
    size_t end;
  };
  std::deque<Step> steps_;
};

}  // namespace luce::completion
