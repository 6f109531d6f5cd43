#include "experts/slot_balance.hpp"

#include <cmath>
#include <map>
#include <optional>

namespace luce::experts {
namespace {

constexpr double kLeastRatio = 1.25;
constexpr double kDeviations = 2.0;  // of the counts, so that chance moves nothing

struct Ends {
  std::optional<int> giver, taker;
};

bool worth_moving(const LayerDemand& giver, const LayerDemand& taker) {
  const double chance =
      std::sqrt(taker.near_misses) / taker.extra_slots + std::sqrt(giver.near_misses) / giver.extra_slots;
  const double difference = taker.worth() - giver.worth();
  return difference > kDeviations * chance && taker.worth() > kLeastRatio * giver.worth();
}

}  // namespace

std::vector<SlotMove> balance_slots(std::span<const LayerDemand> layers) {
  std::map<size_t, Ends> classes;
  const auto worth = [layers](int layer) { return layers[static_cast<size_t>(layer)].worth(); };
  for (size_t i = 0; i < layers.size(); ++i) {
    const LayerDemand& layer = layers[i];
    if (layer.slots == 0) continue;
    Ends& ends = classes[layer.size_class];
    const auto index = static_cast<int>(i);
    if (layer.slots > layer.least_slots && (!ends.giver || layer.worth() < worth(*ends.giver))) ends.giver = index;
    if (layer.slots < layer.most_slots && (!ends.taker || layer.worth() > worth(*ends.taker))) ends.taker = index;
  }
  std::vector<SlotMove> moves;
  for (const auto& [size, ends] : classes)
    if (ends.giver && ends.taker &&
        worth_moving(layers[static_cast<size_t>(*ends.giver)], layers[static_cast<size_t>(*ends.taker)]))
      moves.push_back({*ends.giver, *ends.taker});
  return moves;
}

}  // namespace luce::experts
