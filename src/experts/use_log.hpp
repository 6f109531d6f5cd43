#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "experts/policy.hpp"
#include "experts/routing_digest.hpp"

namespace luce::experts {

/// Steps of one layer that its policy has not been told of yet. A policy's memory is spread widely, so telling it of
/// many steps at once costs a fraction of telling it of each, and nobody asks it while there are no misses.
class UseLog {
 public:
  explicit UseLog(std::unique_ptr<LayerPolicy> policy = nullptr) : policy_(std::move(policy)) {}

  /// Keeps the use, or tells the policy of all when there are many.
  void add(const LayerUse& use);
  /// The policy, which knows of every step now.
  LayerPolicy& up_to_date();
  /// The policy, for what does not depend on steps.
  const LayerPolicy& policy() const { return *policy_; }

 private:
  static constexpr int kMostSteps = 16;
  struct Step {
    LayerUse use;  // its spans point into what follows
    std::vector<UsedExpert> experts;
    std::vector<int32_t> ids;
    std::vector<float> weights;
    std::vector<device::RowClass> classes;
  };

  std::unique_ptr<LayerPolicy> policy_;
  std::array<Step, kMostSteps> steps_;
  int count_ = 0;
};

}  // namespace luce::experts
