#include "completion/grammar/code_points.hpp"

#include <algorithm>

namespace luce::completion {

CodePoints without(CodePoints ranges) {
  std::sort(ranges.begin(), ranges.end());
  CodePoints rest;
  char32_t from = 0;
  for (const auto& [first, last] : ranges) {
    if (first > from) rest.emplace_back(from, first - 1);
    from = std::max<char32_t>(from, last + 1);
  }
  if (from <= 0x10FFFF) rest.emplace_back(from, 0x10FFFF);
  return rest;
}

}  // namespace luce::completion
