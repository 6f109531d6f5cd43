#pragma once

#include <vector>

#include "device/expert_service.hpp"
#include "experts/trace.hpp"

namespace luce::experts {

/// Replaces the router's choice by a recorded one, so that a model with random weights can be timed under real
/// locality. Decode row r follows sequence r of the trace, one token a step, over and over; rows beyond its sequences
/// follow them further on. Prompt rows take the next tokens of the first sequence. Step thread only.
class ForcedRouting final : public device::SelectionRule {
 public:
  /// `experts` is [layers of the model]. Throws Error{invalid_request} for a trace that does not fit the model.
  ForcedRouting(Trace trace, const std::vector<int>& experts, int top_k);

  void begin(int layer, int rows, int top_k) override;
  bool revise(const device::SelectionRow& row) override;

 private:
  struct Stream {
    int sequence = 0;
    int64_t position = 0;
    int64_t used = 0;  // tokens of the step that runs
  };
  Stream& stream(size_t number);

  Trace trace_;
  std::vector<int> order_;      // [layers], position among those with experts
  std::vector<int> sequences_;  // of the trace, that have tokens
  std::vector<Stream> streams_;
};

}  // namespace luce::experts
