#include "plan/slot_split.hpp"

#include <queue>
#include <tuple>

namespace luce::plan {
namespace {

/// A layer that may get one more slot; the one with the smallest share comes first, then the lowest index.
struct Bid {
  double share = 0;
  size_t layer = 0;
  bool operator<(const Bid& other) const { return std::tie(share, layer) > std::tie(other.share, other.layer); }
};

}  // namespace

std::vector<int> split_slots(const std::vector<LayerShape>& layers, const SlotLimits& limits) {
  std::vector<int> slots(layers.size(), 0);
  std::priority_queue<Bid> bids;
  int64_t bytes_left = limits.bytes;
  int64_t slots_left = limits.slots;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].experts == 0) continue;
    slots[i] = 1;
    bytes_left -= layers[i].expert_bytes;
    --slots_left;
    if (layers[i].experts > 1) bids.push({1.0 / layers[i].experts, i});
  }
  while (!bids.empty() && slots_left > 0) {
    const size_t i = bids.top().layer;
    bids.pop();
    if (layers[i].expert_bytes > bytes_left) continue;
    ++slots[i];
    bytes_left -= layers[i].expert_bytes;
    --slots_left;
    if (slots[i] < layers[i].experts) bids.push({static_cast<double>(slots[i]) / layers[i].experts, i});
  }
  return slots;
}

}  // namespace luce::plan
