#pragma once

#include <span>
#include <vector>

#include "engine/scheduler.hpp"
#include "engine/sequence.hpp"
#include "model/batch.hpp"

namespace luce::engine {

/// The sequences that hold a slot, in order of admission. Step thread only.
class Running {
 public:
  explicit Running(int slots) : slots_(slots) {}

  bool empty() const { return sequences_.empty(); }
  bool full() const { return static_cast<int>(sequences_.size()) >= slots_; }
  int count() const { return static_cast<int>(sequences_.size()); }
  bool any_decodes() const;
  std::vector<int> idle_slots() const;

  void add(Sequence sequence) { sequences_.push_back(std::move(sequence)); }
  /// The slot must be in use.
  Sequence& in_slot(int slot);
  /// Those whose terminal event is set leave.
  std::vector<Sequence> take_ended();

  std::vector<Sequence>& all() { return sequences_; }

 private:
  int slots_;
  std::vector<Sequence> sequences_;
};

/// The tokens of a planned step.
model::Batch batch_of(std::span<const PlannedSpan> plan, Running& running);

/// Rows of a plan, all or those of one class.
int count_rows(std::span<const PlannedSpan> plan);
int count_rows(std::span<const PlannedSpan> plan, device::RowClass row_class);

}  // namespace luce::engine
