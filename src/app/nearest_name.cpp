#include "app/nearest_name.hpp"

#include <algorithm>

namespace luce::app {
namespace {

using Rows = std::vector<std::vector<size_t>>;

size_t cell(const Rows& cost, std::string_view from, std::string_view to, size_t i, size_t j) {
  const size_t replaced = cost[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
  size_t best = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
  if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
    best = std::min(best, cost[i - 2][j - 2] + 1);
  return best;
}

size_t edit_distance(std::string_view from, std::string_view to) {
  Rows cost(from.size() + 1, std::vector<size_t>(to.size() + 1));
  for (size_t i = 0; i <= from.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= to.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= from.size(); ++i)
    for (size_t j = 1; j <= to.size(); ++j) cost[i][j] = cell(cost, from, to, i, j);
  return cost[from.size()][to.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = SIZE_MAX;
  for (const std::string& each : candidates) {
    const size_t distance = edit_distance(name.substr(0, 64), each);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = each;
  }
  return best;
}

}  // namespace luce::app
