#include "experts/use_log.hpp"

namespace luce::experts {
namespace {
constexpr int kMostRows = 16;  // of a step that is kept; longer ones are told at once
}

void UseLog::add(const LayerUse& use) {
  if (count_ == kMostSteps || use.rows() > kMostRows) up_to_date();
  if (use.rows() > kMostRows) return policy_->record(use);
  Step& step = steps_[static_cast<size_t>(count_++)];
  step.experts.assign(use.experts.begin(), use.experts.end());
  step.ids.assign(use.ids.begin(), use.ids.end());
  step.weights.assign(use.weights.begin(), use.weights.end());
  step.classes.assign(use.classes.begin(), use.classes.end());
  step.use = {use.layer, use.decode_rows, use.prompt_rows, step.experts, step.ids, step.weights, step.classes};
}

LayerPolicy& UseLog::up_to_date() {
  for (int i = 0; i < count_; ++i) policy_->record(steps_[static_cast<size_t>(i)].use);
  count_ = 0;
  return *policy_;
}

}  // namespace luce::experts
