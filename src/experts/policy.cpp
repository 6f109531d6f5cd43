#include "experts/policy.hpp"

#include <tuple>

#include "base/error.hpp"

namespace luce::experts {
namespace {

/// Recency alone decides.
class Lru final : public LayerPolicy {
 public:
  void record(const LayerUse&) override {}
  double keep_value(int32_t) const override { return 0.0; }
};

}  // namespace

std::optional<int32_t> choose_victim(const LayerPolicy& policy, std::span<const Candidate> candidates,
                                     int32_t incoming) {
  if (candidates.empty()) return std::nullopt;
  const auto rank = [&policy](const Candidate& c) {
    return std::tuple(policy.keep_value(c.expert), c.last_step, c.expert);
  };
  auto weakest = rank(candidates[0]);
  for (const Candidate& candidate : candidates.subspan(1)) weakest = std::min(weakest, rank(candidate));
  if (policy.gated() && policy.keep_value(incoming) <= std::get<0>(weakest)) return std::nullopt;
  return std::get<2>(weakest);
}

PolicySpec PolicySpec::parse(std::string_view text) {
  if (text != "lru") fail(ErrorKind::usage, "eviction policy \"{}\" is unknown; the known one is lru", text);
  return PolicySpec(std::string(text));
}

std::unique_ptr<LayerPolicy> PolicySpec::make(int) const { return std::make_unique<Lru>(); }

}  // namespace luce::experts
