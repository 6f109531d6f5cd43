#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/hit_window.hpp"
#include "app/layer_metrics.hpp"
#include "app/model_assembly.hpp"
#include "engine/engine.hpp"
#include "server/request_record.hpp"
#include "telemetry/registry.hpp"

namespace luce::app {

/// Keeps the metrics of memory and expert cache up to date and logs a line about them at intervals in which anything
/// happened. What it watches must outlive it, and the registry must not be rendered once it is gone.
class Monitor {
 public:
  Monitor(telemetry::Registry& registry, const ModelAssembly& assembly, const engine::Engine& engine);
  /// Ends the log thread.
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// Logs every `interval`, and only while there is traffic.
  void start_log(std::chrono::duration<double> interval);

 private:
  void make_instruments(telemetry::Registry& registry);
  void make_expert_instruments(telemetry::Registry& registry);
  void update();
  void update_experts();
  void update_usage(const experts::Usage& usage);
  void raise(const telemetry::Counter& counter, const std::string& name, double total);
  void log_loop(std::chrono::duration<double> interval);
  void log_once(double seconds);

  const ModelAssembly& assembly_;
  const engine::Engine& engine_;
  telemetry::Gauge memory_used_, expert_count_, hit_ratio_, ram_usage_;
  std::vector<telemetry::Gauge> expert_usage_, expert_weight_;
  std::map<std::string, telemetry::Counter> counters_;
  telemetry::Counter generated_tokens_, prompt_tokens_;
  std::optional<LayerMetrics> layer_metrics_;  // none in a dense model

  std::mutex mutex_;                    // guards what follows
  std::map<std::string, double> told_;  // totals as last added to the counters
  HitWindow window_;
  double last_generated_ = 0;
  double last_prompt_ = 0;
  bool was_busy_ = false;
  bool closing_ = false;
  std::condition_variable wake_;
  std::thread thread_;
};

/// Counts an answered HTTP request.
void count_request(telemetry::Registry& registry, const server::RequestRecord& record);

/// One gauge a condition and state, 1 for the state it is in.
void show_conditions(telemetry::Registry& registry, const std::vector<server::Condition>& conditions);

}  // namespace luce::app
