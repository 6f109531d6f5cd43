#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.hpp"
#include "engine/intake.hpp"
#include "engine/metrics.hpp"
#include "engine/prompt_cache.hpp"
#include "engine/running.hpp"
#include "engine/scheduler.hpp"
#include "engine/sequence.hpp"
#include "engine/step_pacer.hpp"

namespace luce::engine {

/// The step thread and all it owns: gives slots to waiting requests, runs steps, sends events.
class StepLoop {
 public:
  StepLoop(model::Model& model, EngineSettings settings);
  ~StepLoop();

  Admission push(Waiting waiting);
  /// Counts a request that was refused before it could be pushed.
  void count_refused(const char* why) const { metrics_.refused(why); }
  void hold(std::optional<Hold> order) { intake_.hold(std::move(order)); }
  std::string held_why() const;
  bool drain(std::chrono::milliseconds timeout);
  void stop();
  EngineStatus status() const;

 private:
  void run();
  void sweep();
  void sweep_waiting();
  Event end_of(const Waiting& waiting, const std::optional<Hold>& hold) const;
  void sweep_running();
  void admit();
  void start(Waiting waiting);
  void release_ended();

  void step();
  StepBudget budget() const;
  void run_plan(std::span<const PlannedSpan> plan);
  void deliver(std::span<const PlannedSpan> plan, std::span<const float> logits);
  void give_logits(Sequence& sequence, std::span<const float> logits);
  void fail_plan(std::span<const PlannedSpan> plan, ErrorKind kind, const std::string& message);
  void share_experts(std::span<const PlannedSpan> plan, const ExpertTotals& before);
  std::vector<StepRows> rows_of(std::span<const PlannedSpan> plan);
  ExpertTotals expert_totals() const;

  model::Model& model_;
  const EngineSettings settings_;
  const model::StepLimits limits_;
  Intake intake_;
  PromptCache cache_;
  Scheduler scheduler_;
  Running running_;
  const Metrics metrics_;
  StepPacer pacer_;
  uint64_t next_number_ = 0;  // of a sequence
  std::atomic<bool> stopping_ = false;
  std::atomic<int> running_count_ = 0;
  std::atomic<size_t> cached_state_bytes_ = 0;
  std::mutex join_mutex_;
  std::thread thread_;  // last: it uses all others
};

}  // namespace luce::engine
