#include "text/jinja/filters.hpp"

#include <algorithm>
#include <vector>

#include "text/jinja/error.hpp"

namespace luce::text::jinja {
namespace {

std::vector<FilterEntry> all_filters() {
  std::vector<FilterEntry> all;
  for (const auto table :
       {string_filters(), layout_filters(), sequence_filters(), selection_filters(), value_filters()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  std::sort(all.begin(), all.end(), [](const FilterEntry& a, const FilterEntry& b) { return a.name < b.name; });
  return all;
}

}  // namespace

Filter find_filter(std::string_view name) {
  static const std::vector<FilterEntry> sorted = all_filters();
  const auto found =
      std::lower_bound(sorted.begin(), sorted.end(), name,
                       [](const FilterEntry& entry, std::string_view wanted) { return entry.name < wanted; });
  return found == sorted.end() || found->name != name ? nullptr : found->filter;
}

Value run_filter(Frame& frame, std::string_view name, const Value& input, Arguments& arguments) {
  const Filter filter = find_filter(name);
  if (filter == nullptr) raise("No filter named '{}'.", name);
  frame.heap().work(1);
  return filter(frame, input, arguments);
}

}  // namespace luce::text::jinja
