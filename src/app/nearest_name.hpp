#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace luce::app {

/// The candidate with the fewest edits (insert, delete, replace, swap of neighbours) to `name`, empty if there is none.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace luce::app
