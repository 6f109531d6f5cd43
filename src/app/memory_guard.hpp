#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "app/condition_board.hpp"
#include "app/model_assembly.hpp"
#include "app/periodic.hpp"
#include "base/memory_state.hpp"
#include "engine/engine.hpp"
#include "experts/budget_rule.hpp"
#include "telemetry/registry.hpp"

namespace luce::app {

/// Watches the memory of the machine, the control groups, swap and pressure. While it is short, expert slots give
/// theirs back and no new requests start; docs/decisions/0013 has the rule.
class MemoryGuard {
 public:
  /// `root` stands before /proc and /sys. `assembly` must be loaded; all must outlive this.
  MemoryGuard(std::string root, const ModelAssembly& assembly, engine::Engine& engine, ConditionBoard& board);
  /// Ends watching; a hold on requests is lifted.
  ~MemoryGuard();
  MemoryGuard(const MemoryGuard&) = delete;
  MemoryGuard& operator=(const MemoryGuard&) = delete;

  /// Makes the metrics. The registry must outlive this.
  void show(telemetry::Registry& registry);
  /// Begins to watch.
  void start();

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds look();
  void judge(const base::MemoryState& state);
  void resize(int64_t wanted_bytes);
  void tell(experts::Shortage shortage, const base::MemoryState& state);
  void hold(const std::string& why);
  void release();
  void set_gauges(const base::MemoryState& state) const;

  const std::string root_;
  experts::CachedExpertService* const experts_;  // null in a dense model
  engine::Engine& engine_;
  ConditionBoard& board_;
  const int64_t planned_bytes_;
  const int64_t reserve_bytes_;
  experts::BudgetRule rule_;
  int64_t slot_bytes_;
  std::optional<Clock::time_point> held_since_;
  telemetry::Gauge available_, swapped_, stalled_, slots_, slot_bytes_gauge_, reserve_;
  std::optional<Periodic> thread_;
};

}  // namespace luce::app
