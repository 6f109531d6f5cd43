#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "experts/expert_tier.hpp"

namespace luce::experts {

struct WarmProgress {
  int64_t loaded = 0;
  int64_t wanted = 0;
  int64_t bytes = 0;  // fetched so far
};

/// What to fetch before it is asked for. Only free slots are filled; nothing is evicted.
struct WarmRequest {
  std::vector<ExpertId> ranking;  // most wanted first; empty: all experts, the layers filling evenly
  double fill = 1.0;              // of the slots that are free now
  std::function<void(const WarmProgress&)> progress;  // called from the warming thread
  const std::atomic<bool>* stop = nullptr;            // ends warming early
};

struct WarmResult {
  int64_t loaded = 0;
  int64_t failed = 0;
  std::optional<FetchFailure> first_failure;
  bool stopped = false;
};

/// All experts with a count above 0, those with the largest share of their layer's counts first. `counts` is
/// [layers][experts].
std::vector<ExpertId> rank_experts(const std::vector<std::vector<double>>& counts);

/// Fills free slots and returns when the last fetch has ended. May run beside steps on another thread; one at a time.
WarmResult warm_up(ExpertTier& tier, const WarmRequest& request);

}  // namespace luce::experts
