#include "engine/scheduler.hpp"

#include <algorithm>

namespace luce::engine {

namespace {

int round_down(int tokens) { return tokens / kChunkGrid * kChunkGrid; }

// Where a chunk of about `share` rows, at least one piece of the grid, ends: on the grid, at a border or at the end.
int chunk_end(const SequenceWork& work, int share) {
  return std::min({round_down(work.position + share), work.border, work.prompt_end});
}

PlannedSpan prompt_span(const SequenceWork& work, int end) {
  return {.slot = work.slot,
          .first_position = work.position,
          .rows = end - work.position,
          .row_class = device::RowClass::prompt,
          .wants_logits = end == work.prompt_end};
}

}  // namespace

std::vector<PlannedSpan> Scheduler::plan(std::span<const SequenceWork> work, const StepBudget& budget) {
  std::vector<PlannedSpan> spans;
  std::vector<const SequenceWork*> prompts;
  for (const SequenceWork& sequence : work) {
    if (!sequence.decoding) {
      prompts.push_back(&sequence);
      continue;
    }
    spans.push_back({.slot = sequence.slot,
                     .first_position = sequence.position,
                     .rows = 1,
                     .row_class = device::RowClass::decode,
                     .wants_logits = true});
  }
  plan_prompts(prompts, std::min(budget.prompt_rows, budget.rows - static_cast<int>(spans.size())), spans);
  ++turn_;
  return spans;
}

void Scheduler::plan_prompts(std::span<const SequenceWork* const> prompts, int rows,
                             std::vector<PlannedSpan>& spans) const {
  int left = rows;
  const size_t count = prompts.size();
  for (size_t i = 0; i < count && left > 0; ++i) {
    const SequenceWork& next = *prompts[(turn_ + i) % count];
    const int even = round_down(left / static_cast<int>(count - i));
    int end = chunk_end(next, std::max(kChunkGrid, even));
    if (end - next.position > left) {
      if (left < rows) continue;
      end = next.position + left;  // a model with very few rows: off the grid rather than never
    }
    spans.push_back(prompt_span(next, end));
    left -= spans.back().rows;
  }
}

}  // namespace luce::engine
