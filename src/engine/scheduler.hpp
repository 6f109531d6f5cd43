#pragma once

#include <span>
#include <vector>

#include "model/batch.hpp"

namespace luce::engine {

/// Prompts are cut at multiples of this many positions, so that load does not move the cuts.
inline constexpr int kChunkGrid = 64;

/// What one running sequence needs next.
struct SequenceWork {
  int slot = 0;
  int position = 0;    // tokens already computed
  int prompt_end = 0;  // tokens known; position + 1 when decoding
  int border = 0;      // a chunk must not cross this position; above `position`
  bool decoding = false;
};

struct StepBudget {
  int rows = 0;         // that the model takes in one step
  int prompt_rows = 0;  // of these, for prompts
};

struct PlannedSpan {
  int slot = 0;
  int first_position = 0;
  int rows = 0;
  device::RowClass row_class = device::RowClass::decode;
  bool wants_logits = false;  // of its last row

  bool operator==(const PlannedSpan&) const = default;
};

/// Decides which tokens a step computes: a row of every decoding sequence, then prompt chunks. Prompts share their rows
/// evenly; the one to begin with changes from step to step.
class Scheduler {
 public:
  /// Spans in row order; empty only when there is no work.
  std::vector<PlannedSpan> plan(std::span<const SequenceWork> work, const StepBudget& budget);

 private:
  void plan_prompts(std::span<const SequenceWork* const> prompts, int rows, std::vector<PlannedSpan>& spans) const;

  size_t turn_ = 0;
};

}  // namespace luce::engine
