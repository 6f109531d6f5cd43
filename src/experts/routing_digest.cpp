#include "experts/routing_digest.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace luce::experts {

RoutingDigest::RoutingDigest(int max_experts) : index_(static_cast<size_t>(max_experts), -1) {
  used_.reserve(static_cast<size_t>(max_experts));
}

LayerUse RoutingDigest::digest(const device::Routing& routing, int experts) {
  for (const UsedExpert& used : used_) index_[static_cast<size_t>(used.expert)] = -1;
  used_.clear();
  const auto rows = static_cast<size_t>(routing.rows);
  LayerUse use;
  use.layer = routing.layer;
  use.ids = {routing.ids, rows * static_cast<size_t>(routing.top_k)};
  use.weights = {routing.weights, use.ids.size()};
  use.classes = {routing.classes, rows};
  for (int row = 0; row < routing.rows; ++row) {
    const bool decode = routing.classes[row] == device::RowClass::decode;
    (decode ? use.decode_rows : use.prompt_rows) += 1;
    for (int k = 0; k < routing.top_k; ++k) {
      const size_t at = static_cast<size_t>(row) * static_cast<size_t>(routing.top_k) + static_cast<size_t>(k);
      const int32_t expert = routing.ids[at];
      if (expert == device::kNoExpert) {
        ++use.absent;
        continue;
      }
      if (expert < 0 || expert >= experts)
        fail(ErrorKind::device, "layer {}: the router chose expert {} of {}; its logits are not finite", routing.layer,
             expert, experts);
      int32_t& index = index_[static_cast<size_t>(expert)];
      if (index < 0) {
        index = static_cast<int32_t>(used_.size());
        used_.push_back({expert, 0, 0, 0.0F, 0.0F});
      }
      UsedExpert& used = used_[static_cast<size_t>(index)];
      (decode ? used.decode_rows : used.prompt_rows) += 1;
      (decode ? used.decode_weight : used.prompt_weight) += routing.weights[at];
    }
  }
  use.experts = used_;
  return use;
}

}  // namespace luce::experts
