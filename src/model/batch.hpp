#pragma once

#include <cstdint>
#include <vector>

#include "device/expert_service.hpp"

namespace luce::model {

/// Consecutive rows of one sequence in a step.
struct SequenceSpan {
  int slot = 0;  // sequence slot, owner of the KV rows and recurrent state
  int first_row = 0;
  int rows = 0;
  int first_position = 0;  // 0 starts the sequence anew: its recurrent state begins with zeros
  device::RowClass row_class = device::RowClass::decode;
};

/// One forward pass: tokens of one or several sequences, each sequence at most once.
struct Batch {
  std::vector<int32_t> tokens;      // [rows]
  std::vector<SequenceSpan> spans;  // in row order, covering all rows
  std::vector<int32_t> logit_rows;  // rows whose logits are wanted, ascending

  int rows() const { return static_cast<int>(tokens.size()); }
};

}  // namespace luce::model
