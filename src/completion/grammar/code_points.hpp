#pragma once

#include <utility>
#include <vector>

namespace luce::completion {

/// Ranges of code points; both ends belong to a range.
using CodePoints = std::vector<std::pair<char32_t, char32_t>>;

/// All code points that are in none of the ranges.
CodePoints without(CodePoints ranges);

}  // namespace luce::completion
