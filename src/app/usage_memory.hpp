#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/model_assembly.hpp"
#include "experts/profile_keeper.hpp"
#include "telemetry/registry.hpp"

namespace luce::app {

/// The expert cache's memory over restarts: loads the profile, fills free slots beside the first requests, saves usage
/// at intervals and at the end. Without a profile path it only fills slots; without experts it does nothing.
class UsageMemory {
 public:
  /// `assembly` must be loaded and outlive this.
  UsageMemory(const ModelAssembly& assembly, const ResolvedSettings& settings);
  /// Ends filling, then saves.
  ~UsageMemory();
  UsageMemory(const UsageMemory&) = delete;
  UsageMemory& operator=(const UsageMemory&) = delete;

  /// Starts filling and saving; `filled` hears one sentence when the slots are full.
  void start(std::function<void(const std::string&)> filled = {});
  /// Saves what was counted so far.
  void save();
  /// How the profile and the routing trace fare, where they were asked for.
  std::vector<server::Condition> conditions() const;
  /// Keeps the metrics of the profile and of sessions and tags up to date. The registry must not be rendered once this
  /// is gone.
  void show(telemetry::Registry& registry);

 private:
  void fill() const;
  void show_profile(telemetry::Registry& registry);

  experts::CachedExpertService* experts_;
  const experts::RouteRecorder* recorder_;
  std::unique_ptr<experts::ProfileKeeper> keeper_;
  std::function<void(const std::string&)> filled_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace luce::app
