#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace luce::telemetry {

namespace detail {

struct HistogramCell {
  explicit HistogramCell(std::vector<double> upper_bounds);
  void observe(double value);

  const std::vector<double> bounds;           // ascending, without the last one, +Inf
  std::vector<std::atomic<uint64_t>> counts;  // one more than bounds; not cumulative
  std::atomic<double> sum{0};
};

}  // namespace detail

// Handles are copied freely, add without a lock from any thread, and must not outlive their Registry.
// One that was made without a registry takes values and does nothing.

/// A number that only grows: events, bytes, seconds.
class Counter {
 public:
  Counter() = default;
  explicit Counter(std::atomic<double>* cell) : cell_(cell) {}
  void add(double amount = 1) const {
    if (cell_ != nullptr && amount > 0) cell_->fetch_add(amount, std::memory_order_relaxed);
  }
  double value() const { return cell_ == nullptr ? 0 : cell_->load(std::memory_order_relaxed); }

 private:
  std::atomic<double>* cell_ = nullptr;
};

/// A number that goes up and down: bytes in use, queue length, a ratio.
class Gauge {
 public:
  Gauge() = default;
  explicit Gauge(std::atomic<double>* cell) : cell_(cell) {}
  void set(double value) const {
    if (cell_ != nullptr) cell_->store(value, std::memory_order_relaxed);
  }
  void add(double amount) const {
    if (cell_ != nullptr) cell_->fetch_add(amount, std::memory_order_relaxed);
  }
  double value() const { return cell_ == nullptr ? 0 : cell_->load(std::memory_order_relaxed); }

 private:
  std::atomic<double>* cell_ = nullptr;
};

/// How often values fell into each bucket; a value belongs to the first bucket whose bound is not below it.
class Histogram {
 public:
  Histogram() = default;
  explicit Histogram(detail::HistogramCell* cell) : cell_(cell) {}
  void observe(double value) const {
    if (cell_ != nullptr) cell_->observe(value);
  }
  uint64_t count() const;
  double sum() const { return cell_ == nullptr ? 0 : cell_->sum.load(std::memory_order_relaxed); }
  /// An upper estimate of the q-quantile (q in [0, 1]): the bound of its bucket; infinity beyond the last, 0 when
  /// empty.
  double quantile(double q) const;

 private:
  detail::HistogramCell* cell_ = nullptr;
};

}  // namespace luce::telemetry
