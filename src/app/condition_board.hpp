#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/status_routes.hpp"
#include "telemetry/registry.hpp"

namespace luce::app {

/// Named trouble of a running server: each is told in the log when it begins and when it ends, and while it lasts in
/// /health and as luce_state. Thread-safe.
class ConditionBoard {
 public:
  /// The registry must outlive this.
  explicit ConditionBoard(telemetry::Registry& registry) : registry_(registry) {}

  /// Shows that this trouble is watched for, and is not there.
  void declare(const std::string& name);
  /// The trouble as it is now, in a sentence without a full stop; none: it is not there. Only a change between the two
  /// is logged, a new reason is shown.
  void report(const std::string& name, const std::optional<std::string>& reason);
  /// What is not as it should be.
  std::vector<server::Condition> conditions() const;

 private:
  struct Trouble {
    telemetry::Gauge degraded;
    std::optional<std::string> reason;  // none: not there
    std::chrono::steady_clock::time_point since;
  };
  Trouble& entry(const std::string& name);

  telemetry::Registry& registry_;
  mutable std::mutex mutex_;
  std::map<std::string, Trouble> troubles_;  // guarded by mutex_
};

}  // namespace luce::app
