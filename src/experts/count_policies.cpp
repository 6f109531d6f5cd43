#include "experts/count_policies.hpp"

#include <cmath>
#include <limits>

#include "experts/decayed_counts.hpp"

namespace luce::experts {
namespace {

class Lru final : public LayerPolicy {
 public:
  void record(const LayerUse&) override {}
  double keep_value(int32_t) const override { return 0.0; }
};

class Lfu final : public LayerPolicy {
 public:
  explicit Lfu(int experts) : uses_(static_cast<size_t>(experts)) {}
  void record(const LayerUse& use) override {
    for (const UsedExpert& used : use.experts) ++uses_[static_cast<size_t>(used.expert)];
  }
  double keep_value(int32_t expert) const override { return static_cast<double>(uses_[static_cast<size_t>(expert)]); }

 private:
  std::vector<int64_t> uses_;
};

/// Counts one use for every expert of a step; its clock is the layer's steps.
class CountingPolicy : public LayerPolicy {
 public:
  CountingPolicy(int experts, double half_life) : counts_(experts, half_life) {}
  void record(const LayerUse& use) final {
    ++now_;
    for (const UsedExpert& used : use.experts) counts_.add(used.expert, now_);
  }

 protected:
  double count(int32_t expert) const { return counts_.at(expert, now_); }
  double count_at_last(int32_t expert) const { return counts_.at_last(expert); }
  double age(int32_t expert) const { return static_cast<double>(now_ - counts_.last(expert)); }

 private:
  DecayedCounts counts_;
  int64_t now_ = 0;
};

class Decay final : public CountingPolicy {
 public:
  Decay(int experts, double half_life, bool gated) : CountingPolicy(experts, half_life), gated_(gated) {}
  double keep_value(int32_t expert) const override { return count(expert); }
  std::optional<double> gate() const override { return gated_ ? std::optional(1.0) : std::nullopt; }

 private:
  bool gated_;
};

class ClassLru final : public CountingPolicy {
 public:
  using CountingPolicy::CountingPolicy;
  double keep_value(int32_t expert) const override {
    const double uses = count_at_last(expert);
    return uses > 0.0 ? -std::ldexp(age(expert), -std::ilogb(uses)) : -std::numeric_limits<double>::max();
  }
  bool recency_breaks_ties() const override { return false; }
};

class AgeCrf final : public CountingPolicy {
 public:
  using CountingPolicy::CountingPolicy;
  double keep_value(int32_t expert) const override {
    const double uses = count_at_last(expert);
    return uses > 0.0 ? -age(expert) / uses : -std::numeric_limits<double>::max();
  }
  bool recency_breaks_ties() const override { return false; }
};

}  // namespace

std::unique_ptr<LayerPolicy> make_lru() { return std::make_unique<Lru>(); }
std::unique_ptr<LayerPolicy> make_lfu(int experts) { return std::make_unique<Lfu>(experts); }
std::unique_ptr<LayerPolicy> make_decay(int experts, double half_life, bool gated) {
  return std::make_unique<Decay>(experts, half_life, gated);
}
std::unique_ptr<LayerPolicy> make_class_lru(int experts, double half_life) {
  return std::make_unique<ClassLru>(experts, half_life);
}
std::unique_ptr<LayerPolicy> make_age_crf(int experts, double half_life) {
  return std::make_unique<AgeCrf>(experts, half_life);
}

}  // namespace luce::experts
