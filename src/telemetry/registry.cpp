#include "telemetry/registry.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

#include "base/check.hpp"

namespace luce::telemetry {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct Cell {
  std::atomic<double> number{0};
  std::optional<detail::HistogramCell> histogram;
};

struct Family {
  std::string help;
  MetricType type;
  std::vector<double> bounds;
  std::map<Labels, Cell> cells;  // nodes never move, so handles may point into them
};

bool is_name(const std::string& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

Labels checked_labels(Labels labels) {
  std::sort(labels.begin(), labels.end());
  for (size_t i = 0; i < labels.size(); ++i) {
    LUCE_CHECK(is_name(labels[i].first) && labels[i].first != "le", "bad label name");
    LUCE_CHECK(i == 0 || labels[i].first != labels[i - 1].first, "a label is given twice");
  }
  return labels;
}

ClientMetric::Histogram snapshot(const detail::HistogramCell& cell) {
  ClientMetric::Histogram histogram;
  histogram.sample_sum = cell.sum.load(std::memory_order_relaxed);
  for (size_t i = 0; i < cell.counts.size(); ++i) {
    histogram.sample_count += cell.counts[i].load(std::memory_order_relaxed);
    const double bound = i < cell.bounds.size() ? cell.bounds[i] : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back({histogram.sample_count, bound});
  }
  return histogram;
}

ClientMetric snapshot(const Labels& labels, const Cell& cell, MetricType type) {
  ClientMetric metric;
  for (const auto& [name, value] : labels) metric.label.push_back({name, value});
  const double number = cell.number.load(std::memory_order_relaxed);
  if (type == MetricType::Counter) metric.counter.value = number;
  if (type == MetricType::Gauge) metric.gauge.value = number;
  if (cell.histogram) metric.histogram = snapshot(*cell.histogram);
  return metric;
}

}  // namespace

struct Registry::State {
  std::mutex mutex;
  std::map<std::string, Family> families;

  std::mutex updates_mutex;
  std::deque<std::function<void()>> updates;

  Cell& cell(const MetricName& metric, MetricType type, const std::vector<double>& bounds) {
    LUCE_CHECK(is_name(metric.name), "bad metric name");
    const std::lock_guard lock(mutex);
    Family& family = families.try_emplace(metric.name, Family{metric.help, type, bounds, {}}).first->second;
    LUCE_CHECK(family.type == type, "one metric name has two kinds");
    const auto [entry, is_new] = family.cells.try_emplace(checked_labels(metric.labels));
    if (is_new && type == MetricType::Histogram) entry->second.histogram.emplace(family.bounds);
    return entry->second;
  }

  void update() {
    const std::lock_guard lock(updates_mutex);
    for (const auto& update : updates) update();
  }

  std::vector<MetricFamily> snapshot_all() {
    const std::lock_guard lock(mutex);
    std::vector<MetricFamily> all;
    for (const auto& [name, family] : families) {
      MetricFamily out{name, family.help, family.type, {}};
      for (const auto& [labels, cell] : family.cells) out.metric.push_back(snapshot(labels, cell, family.type));
      all.push_back(std::move(out));
    }
    return all;
  }
};

Registry::Registry() : state_(std::make_unique<State>()) {}
Registry::~Registry() = default;

Counter Registry::counter(const MetricName& metric) {
  return Counter(&state_->cell(metric, MetricType::Counter, {}).number);
}

Gauge Registry::gauge(const MetricName& metric) { return Gauge(&state_->cell(metric, MetricType::Gauge, {}).number); }

Histogram Registry::histogram(const MetricName& metric, const std::vector<double>& bounds) {
  return Histogram(&*state_->cell(metric, MetricType::Histogram, bounds).histogram);
}

void Registry::before_render(std::function<void()> update) {
  const std::lock_guard lock(state_->updates_mutex);
  state_->updates.push_back(std::move(update));
}

std::string Registry::render() const {
  state_->update();
  return prometheus::TextSerializer().Serialize(state_->snapshot_all());
}

std::vector<double> exponential_bounds(double first, double factor, int count) {
  LUCE_CHECK(first > 0 && factor > 1, "bounds must grow");
  std::vector<double> bounds;
  for (int i = 0; i < count; ++i, first *= factor) bounds.push_back(first);
  return bounds;
}

}  // namespace luce::telemetry
