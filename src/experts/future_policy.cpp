#include "experts/future_policy.hpp"

#include <algorithm>

namespace luce::experts {
namespace {

class FuturePolicy final : public LayerPolicy {
 public:
  FuturePolicy(std::vector<std::vector<int64_t>> uses, bool bypass)
      : uses_(std::move(uses)), next_(uses_.size(), 0), bypass_(bypass) {}

  void record(const LayerUse& use) override {
    ++step_;
    for (const UsedExpert& used : use.experts) ++next_[static_cast<size_t>(used.expert)];
  }
  /// Sooner is worth more; never again is worth least.
  double keep_value(int32_t expert) const override {
    const auto& uses = uses_[static_cast<size_t>(expert)];
    const size_t next = next_[static_cast<size_t>(expert)];
    return next < uses.size() ? -static_cast<double>(uses[next]) : -kNever;
  }
  std::optional<double> gate() const override { return bypass_ ? std::optional(1.0) : std::nullopt; }

 private:
  static constexpr double kNever = 1e18;

  std::vector<std::vector<int64_t>> uses_;  // [experts], steps in which it is used
  std::vector<size_t> next_;                // [experts], the first use after this step
  int64_t step_ = 0;
  bool bypass_;
};

}  // namespace

PolicyFactory future_policy(TraceSteps& steps, bool bypass) {
  return [&steps, bypass](int layer, int experts) -> std::unique_ptr<LayerPolicy> {
    std::vector<std::vector<int64_t>> uses(static_cast<size_t>(experts));
    for (int64_t step = 0; step < steps.count(); ++step)
      for (const UsedExpert& used : steps.use(step, layer).experts)
        uses[static_cast<size_t>(used.expert)].push_back(step);
    return std::make_unique<FuturePolicy>(std::move(uses), bypass);
  };
}

}  // namespace luce::experts
