#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/instruments.hpp"

namespace luce::telemetry {

/// Name and value of each label, in any order.
using Labels = std::vector<std::pair<std::string, std::string>>;

struct MetricName {
  std::string name;  // Prometheus rules: letters, digits, underscores
  std::string help;  // one sentence
  Labels labels = {};
};

/// All metrics of a process. Every call is thread-safe; making a handle takes a lock, using it does not.
class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// The same name and labels give the same cell again. One name has one kind, help and set of bounds, those of its
  /// first use; another kind is a broken invariant.
  Counter counter(const MetricName& metric);
  Gauge gauge(const MetricName& metric);
  /// `bounds` are the upper bounds of the buckets, ascending; +Inf is added.
  Histogram histogram(const MetricName& metric, const std::vector<double>& bounds);

  /// Called at the start of every render(), to bring gauges up to date. It must not call render().
  void before_render(std::function<void()> update);

  /// All metrics in the Prometheus text format, version 0.0.4.
  std::string render() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// `count` bounds from `first`, each `factor` times the one before.
std::vector<double> exponential_bounds(double first, double factor, int count);

}  // namespace luce::telemetry
