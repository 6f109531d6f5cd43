#include "engine/running.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"

namespace luce::engine {

bool Running::any_decodes() const {
  return std::any_of(sequences_.begin(), sequences_.end(),
                     [](const Sequence& sequence) { return sequence.decoding(); });
}

std::vector<int> Running::idle_slots() const {
  std::vector<bool> used(static_cast<size_t>(slots_), false);
  for (const Sequence& sequence : sequences_) used[sequence.slot()] = true;
  std::vector<int> idle;
  for (int slot = 0; slot < slots_; ++slot)
    if (!used[slot]) idle.push_back(slot);
  return idle;
}

Sequence& Running::in_slot(int slot) {
  const auto found = std::find_if(sequences_.begin(), sequences_.end(),
                                  [&](const Sequence& sequence) { return sequence.slot() == slot; });
  LUCE_CHECK(found != sequences_.end(), "a planned span belongs to a running sequence");
  return *found;
}

std::vector<Sequence> Running::take_ended() {
  const auto first_ended = std::stable_partition(sequences_.begin(), sequences_.end(),
                                                 [](const Sequence& sequence) { return !sequence.ended(); });
  std::vector<Sequence> ended(std::make_move_iterator(first_ended), std::make_move_iterator(sequences_.end()));
  sequences_.erase(first_ended, sequences_.end());
  return ended;
}

model::Batch batch_of(std::span<const PlannedSpan> plan, Running& running) {
  model::Batch batch;
  for (const PlannedSpan& span : plan) {
    const std::span<const int32_t> tokens = running.in_slot(span.slot).next_tokens(span.rows);
    batch.spans.push_back({.slot = span.slot,
                           .first_row = batch.rows(),
                           .rows = span.rows,
                           .first_position = span.first_position,
                           .row_class = span.row_class});
    batch.tokens.insert(batch.tokens.end(), tokens.begin(), tokens.end());
    if (span.wants_logits) batch.logit_rows.push_back(batch.rows() - 1);
  }
  return batch;
}

int count_rows(std::span<const PlannedSpan> plan) {
  return count_rows(plan, device::RowClass::prompt) + count_rows(plan, device::RowClass::decode);
}

int count_rows(std::span<const PlannedSpan> plan, device::RowClass row_class) {
  int rows = 0;
  for (const PlannedSpan& span : plan)
    if (span.row_class == row_class) rows += span.rows;
  return rows;
}

}  // namespace luce::engine
