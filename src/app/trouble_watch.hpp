#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "app/condition_board.hpp"
#include "app/hit_window.hpp"
#include "app/model_assembly.hpp"
#include "app/periodic.hpp"
#include "experts/traffic_shape.hpp"

namespace luce::app {

/// Watches the expert cache for lasting trouble: a low hit ratio after warm-up, one expert that takes more than its
/// share, traffic of a single narrow topic.
class TroubleWatch {
 public:
  /// `assembly` must be loaded; both must outlive this. Nothing is watched in a dense model.
  TroubleWatch(const ModelAssembly& assembly, int64_t warmup_tokens, ConditionBoard& board);
  void start();

 private:
  std::chrono::milliseconds look();
  std::optional<std::string> low_hits(const experts::CachedExpertService& experts);
  std::optional<std::string> hot_expert(const experts::TrafficShape& shape);
  std::optional<std::string> narrow_topic(const experts::TrafficShape& shape);

  const ModelAssembly& assembly_;
  const int64_t warmup_tokens_;
  ConditionBoard& board_;
  HitWindow window_;
  experts::TrafficJudge judge_;
  bool hits_are_low_ = false;
  std::optional<Periodic> thread_;
};

}  // namespace luce::app
