#pragma once

#include <vector>

#include "device/expert_service.hpp"

namespace luce::experts {

/// A routing with the memory it points to. Rows are decode rows unless told otherwise.
class RoutingRows {
 public:
  explicit RoutingRows(int layer, std::vector<std::vector<int32_t>> rows,
                       device::RowClass row_class = device::RowClass::decode)
      : layer_(layer),
        rows_(static_cast<int>(rows.size())),
        top_k_(rows.empty() ? 0 : static_cast<int>(rows[0].size())) {
    for (const auto& row : rows) ids_.insert(ids_.end(), row.begin(), row.end());
    weights_.assign(ids_.size(), 1.0F / static_cast<float>(top_k_ > 0 ? top_k_ : 1));
    classes_.assign(rows.size(), row_class);
  }

  RoutingRows& set_class(int row, device::RowClass row_class) {
    classes_[static_cast<size_t>(row)] = row_class;
    return *this;
  }
  device::Routing view() const { return {layer_, rows_, top_k_, ids_.data(), weights_.data(), classes_.data()}; }

 private:
  int layer_, rows_, top_k_;
  std::vector<int32_t> ids_;
  std::vector<float> weights_;
  std::vector<device::RowClass> classes_;
};

}  // namespace luce::experts
