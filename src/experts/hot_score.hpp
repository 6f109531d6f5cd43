#pragma once

#include <optional>

#include "experts/decayed_counts.hpp"
#include "experts/policy.hpp"
#include "experts/row_history.hpp"
#include "experts/transition_counts.hpp"

namespace luce::experts {

/// The constants of hot-score; how they were found is in docs/decisions.
struct HotScoreSettings {
  double half_life_tokens = 24;  // of the use counts
  double weight_share = 0;       // 0: a use counts 1; 1: it counts the expert's mixing weight times top-k
  double second_weight = 0.3;    // of the token before the last, as context
  double lift_floor = 1;         // added to every lift: what is not next may still be needed soon
  int power = 3;                 // of the lift with its floor; 0 takes no notice of it
  TransitionCounts::Settings transitions;
  std::optional<double> gate;  // a miss must be worth this many times the weakest resident
};

/// The default policy. An expert is worth its decayed uses times how much likelier than usual it is after the experts
/// that the running sequences chose last, as learnt from the layer's own routing. Prompts count by their last tokens
/// only, so that they warm the cache from their end and do not flush what decoding needs.
class HotScore final : public LayerPolicy {
 public:
  HotScore(int experts, const HotScoreSettings& settings);

  void record(const LayerUse& use) override;
  double keep_value(int32_t expert) const override;
  std::optional<double> gate() const override { return settings_.gate; }
  bool separates_prompts() const override { return true; }
  void seed(std::span<const double> uses) override;
  std::vector<double> uses() const override;
  void expect(const ExpectedTraffic& traffic) override;

  static size_t bytes(int experts);

 private:
  void add_uses(const LayerUse& use, int row, int64_t tick, DecayedCounts& to) const;
  void record_decode_row(size_t row, std::span<const int32_t> chosen);
  void record_prompt_row(std::span<const int32_t> chosen);
  void learn(std::span<const int32_t> last, std::span<const int32_t> before, std::span<const int32_t> chosen);
  void find_lift() const;
  void add_context(std::span<const int32_t> experts, double weight) const;

  HotScoreSettings settings_;
  DecayedCounts decode_, prompt_;
  int64_t decode_tick_ = 0;  // a step
  int64_t prompt_tick_ = 0;  // a row of a prompt, or a step without one
  RowHistory history_;
  double context_trust_ = 1;  // the share of running sequences that the last tokens are of
  TransitionCounts transitions_;

  // Found when the first value is asked for after a step.
  mutable bool lift_found_ = false;
  mutable std::vector<float> lift_;  // [experts]
  mutable std::vector<TransitionCounts::Context> context_;
};

}  // namespace luce::experts
