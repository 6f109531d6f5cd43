#pragma once

#include <vector>

#include "experts/routing_digest.hpp"
#include "experts/trace.hpp"

namespace luce::experts {

/// A trace as steps of several streams: sequence s belongs to stream s mod streams, each stream runs its sequences one
/// after the other, and all streams advance by one token per step until they have none left.
class TraceSteps {
 public:
  TraceSteps(const Trace& trace, int streams);

  int64_t count() const { return static_cast<int64_t>(first_row_.size()) - 1; }
  int rows(int64_t step) const {
    return static_cast<int>(first_row_[static_cast<size_t>(step) + 1] - first_row_[static_cast<size_t>(step)]);
  }
  /// The experts [top_k] of one row of a step.
  std::span<const uint16_t> at(int64_t step, int row, int layer) const;
  /// One layer's use in a step, experts in row order; valid until the next call on this object.
  LayerUse use(int64_t step, int layer);

 private:
  struct Row {
    int sequence = 0;
    int64_t token = 0;
  };

  const Trace& trace_;
  std::vector<Row> rows_;
  std::vector<size_t> first_row_;  // [steps + 1]
  std::vector<int32_t> index_;     // expert -> position in used_, or -1
  std::vector<UsedExpert> used_;
  std::vector<int32_t> ids_;               // [rows, top_k] of the use given out last
  std::vector<device::RowClass> classes_;  // [rows]
};

}  // namespace luce::experts
