#pragma once

#include <cstddef>
#include <vector>

#include "completion/json.hpp"

namespace luce::completion {

/// Two branches of a choice that one value may both meet.
struct ChoiceOverlap {
  bool found = false;
  size_t first = 0;
  size_t second = 0;
};

/// Narrows branches of a oneOf, without references at their own level, so that no value written for one is allowed by
/// another: by what they say of types, listed values and bounds, and by forbidding in one the members that another
/// needs. Says where that cannot be shown. `root` is what references are looked up in.
ChoiceOverlap make_exclusive(std::vector<Json>& branches, const Json& root);

}  // namespace luce::completion
