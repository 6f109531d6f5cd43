#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/request.hpp"
#include "engine/snapshot_store.hpp"
#include "model/model.hpp"

namespace luce::engine {

/// How much of a slot's content serves a new prompt, whose first `common` tokens are the slot's: KV rows can be cut
/// back anywhere; recurrent state serves at its live position or where a snapshot (ascending positions) was taken.
int resume_position(bool recurrent, int live_position, std::span<const int> snapshots, int common);

/// What each sequence slot holds, which one suits a request, and snapshots of recurrent state. Step thread only.
class PromptCache {
 public:
  PromptCache(model::Model& model, size_t snapshot_bytes);

  /// The best of the idle slots (at least one) for a request.
  int choose(const Request& request, std::span<const int> idle_slots) const;
  /// Makes the slot ready for the request; returns how many tokens of its prompt are already computed, never all.
  int open(int slot, const Request& request);
  /// The next position above `position` at which the state should be kept for later prompts; the prompt's end if none.
  int next_border(const Request& request, int position) const;
  /// Says that the slot's sequence was computed further, up to `tokens`.
  void advance(int slot, std::span<const int32_t> tokens);
  /// Keeps the slot's state for later prompts, if the model has state and the budget allows.
  void take_snapshot(int slot);
  /// The slot's content is no longer known, or must not be reused.
  void forget(int slot);

  size_t held_bytes() const { return snapshots_.held_bytes(); }

 private:
  struct Slot {
    std::vector<int32_t> tokens = {};  // computed; KV rows and state belong to them
    std::string session_id = {};
    uint64_t last_opened = 0;
  };

  int resumable(int slot, const Request& request) const;
  double gain(int slot, const Request& request, std::span<const int> idle_slots) const;

  model::Model& model_;
  bool recurrent_;
  SnapshotStore snapshots_;
  std::vector<Slot> slots_;
  uint64_t opened_ = 0;
};

}  // namespace luce::engine
