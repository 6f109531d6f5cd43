#include "completion/reply/token_trail.hpp"

#include <utility>

namespace luce::completion {

void TokenTrail::add(TokenText token, size_t begin, size_t end) {
  steps_.push_back({.token = std::move(token), .begin = begin, .end = end});
}

std::vector<TokenText> TokenTrail::take(size_t begin, size_t end) {
  std::vector<TokenText> taken;
  while (!steps_.empty() && steps_.front().begin < end) {
    Step& step = steps_.front();
    // A token without whole characters of its own belongs to the text that it began.
    if (step.end > begin || (step.begin == step.end && step.begin >= begin)) taken.push_back(std::move(step.token));
    steps_.pop_front();
  }
  return taken;
}

}  // namespace luce::completion
