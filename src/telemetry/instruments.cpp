#include "telemetry/instruments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.hpp"

namespace luce::telemetry {

detail::HistogramCell::HistogramCell(std::vector<double> upper_bounds)
    : bounds(std::move(upper_bounds)), counts(bounds.size() + 1) {
  const bool ascending = std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()) == bounds.end();
  LUCE_CHECK(ascending, "histogram bounds must ascend");
}

void detail::HistogramCell::observe(double value) {
  if (std::isnan(value)) return;
  const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin();
  counts[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum.fetch_add(value, std::memory_order_relaxed);
}

uint64_t Histogram::count() const {
  if (cell_ == nullptr) return 0;
  uint64_t total = 0;
  for (const auto& count : cell_->counts) total += count.load(std::memory_order_relaxed);
  return total;
}

double Histogram::quantile(double q) const {
  const uint64_t total = count();
  if (total == 0) return 0;
  const double wanted = std::max(1.0, std::ceil(q * static_cast<double>(total)));
  uint64_t seen = 0;
  for (size_t i = 0; i < cell_->bounds.size(); ++i) {
    seen += cell_->counts[i].load(std::memory_order_relaxed);
    if (static_cast<double>(seen) >= wanted) return cell_->bounds[i];
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace luce::telemetry
