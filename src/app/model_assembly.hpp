#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/model_path.hpp"
#include "app/settings_sources.hpp"
#include "device/cpu/cpu_device.hpp"
#include "experts/cached_expert_service.hpp"
#include "experts/gguf_source.hpp"
#include "experts/route_recorder.hpp"
#include "gguf/file.hpp"
#include "model/blueprint.hpp"
#include "plan/memory_plan.hpp"
#include "server/status_routes.hpp"
#include "text/tokenizer.hpp"

namespace luce::app {

/// Rows that the steps of a command need; the rest of a model's limits comes from the settings.
struct StepNeeds {
  int context_tokens = 0;  // 0: as the settings say
  int sequences = 1;
  int rows = 0;  // 0: as the settings say
  int logit_rows = 1;
};

using Progress = std::function<bool(int64_t done, int64_t all)>;  // false ends the load with Error{cancelled}

/// Told once everything is known and nothing is loaded.
class ModelAssembly;
using PlanReady = std::function<void(const ModelAssembly&)>;

/// A model in memory with all below it: file, device, memory plan, expert cache. Built in order, destroyed in reverse.
class ModelAssembly {
 public:
  /// Opens and checks everything but loads no weights. Throws as its parts do, out_of_memory with the plan's parts.
  ModelAssembly(const ModelPath& path, const ResolvedSettings& settings, StepNeeds needs);

  /// Allocates the cache and reads the dense weights.
  void load(const Progress& progress);

  const gguf::File& file() const { return file_; }
  const text::Tokenizer& tokenizer() const { return tokenizer_; }
  device::cpu::CpuDevice& device() { return device_; }
  const device::cpu::CpuDevice& device() const { return device_; }
  const model::Blueprint& blueprint() const { return blueprint_; }
  const plan::MemoryPlan& plan() const { return plan_; }
  const model::StepLimits& limits() const { return limits_; }
  const std::vector<server::Condition>& conditions() const { return conditions_; }
  /// Null in a dense model, and before load().
  experts::CachedExpertService* experts() const { return experts_.get(); }
  /// Null unless routing is recorded.
  experts::RouteRecorder* recorder() const { return recorder_.get(); }
  model::Model& model() { return *model_; }
  const std::string& policy() const { return cache_settings_.tier.policy.text(); }
  int64_t stats_window_tokens() const { return cache_settings_.stats_window_tokens; }

 private:
  model::StepLimits step_limits(const ResolvedSettings& settings, const StepNeeds& needs) const;
  plan::MemoryPlan make_plan(const ResolvedSettings& settings) const;
  void choose_policy(const ResolvedSettings& settings);
  void choose_bias(const ResolvedSettings& settings);
  void choose_router(const ResolvedSettings& settings);
  int decode_top_k() const { return cache_settings_.router.top_k_of(blueprint_.hyperparameters().experts_used); }
  void start_recording();

  gguf::File file_;
  device::cpu::CpuDevice device_;
  model::Blueprint blueprint_;  // before the tokenizer, so that an unknown architecture is what is said first
  int64_t tokenizer_bytes_ = 0;
  text::Tokenizer tokenizer_;
  std::unique_ptr<experts::GgufExpertSource> source_;  // until the cache takes it
  model::StepLimits limits_;
  model::LoadSettings load_settings_;
  experts::CacheSettings cache_settings_;
  plan::MemoryPlan plan_;
  std::vector<server::Condition> conditions_;
  std::unique_ptr<experts::CachedExpertService> experts_;
  std::string trace_path_;  // empty: routing is not recorded
  std::unique_ptr<experts::RouteRecorder> recorder_;
  std::unique_ptr<experts::RecordingService> recording_;
  std::unique_ptr<model::Model> model_;
};

/// An expert model's name for clients: the alias, or the file's name without ".gguf" and part numbers.
std::string served_name(const ModelSettings& settings, const std::string& path);

}  // namespace luce::app
