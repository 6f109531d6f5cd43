#include "engine/prompt_cache.hpp"

#include <algorithm>
#include <new>
#include <tuple>

#include "engine/scheduler.hpp"

namespace luce::engine {

namespace {

constexpr int kLeastSpacing = 512;  // positions between snapshots in a prompt without other hints
constexpr int kMostSpaced = 8;      // of these in one prompt

int spacing(int prompt_tokens) {
  const int even = (prompt_tokens / kMostSpaced + kChunkGrid - 1) / kChunkGrid * kChunkGrid;
  return std::max(kLeastSpacing, even);
}

int common_length(std::span<const int32_t> a, std::span<const int32_t> b) {
  const auto parted = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<int>(parted.first - a.begin());
}

}  // namespace

int resume_position(bool recurrent, int live_position, std::span<const int> snapshots, int common) {
  if (!recurrent || common >= live_position) return std::min(common, live_position);
  const auto above = std::upper_bound(snapshots.begin(), snapshots.end(), common);
  return above == snapshots.begin() ? 0 : *std::prev(above);
}

PromptCache::PromptCache(model::Model& model, size_t snapshot_bytes)
    : model_(model),
      recurrent_(model.has_recurrent_state()),
      snapshots_(snapshot_bytes),
      slots_(static_cast<size_t>(model.limits().sequences)) {}

int PromptCache::resumable(int slot, const Request& request) const {
  if (!request.use_prompt_cache) return 0;
  const std::vector<int32_t>& held = slots_[slot].tokens;
  // The last token is always computed, since its logits are wanted.
  const auto reusable = std::span(request.tokens).first(request.tokens.size() - 1);
  const int common = common_length(held, reusable);
  return resume_position(recurrent_, static_cast<int>(held.size()), snapshots_.positions(slot), common);
}

// What reusing the slot saves, less what it throws away; content that lay unused for longer counts for less.
double PromptCache::gain(int slot, const Request& request, std::span<const int> idle_slots) const {
  const Slot& held = slots_[slot];
  const auto older = std::count_if(idle_slots.begin(), idle_slots.end(),
                                   [&](int other) { return slots_[other].last_opened < held.last_opened; });
  const double recency = static_cast<double>(older + 1) / static_cast<double>(idle_slots.size());
  const int reused = resumable(slot, request);
  return reused - recency * (static_cast<double>(held.tokens.size()) - reused);
}

int PromptCache::choose(const Request& request, std::span<const int> idle_slots) const {
  const auto rank = [&](int slot) {
    const bool own = !request.session_id.empty() && slots_[slot].session_id == request.session_id;
    return std::tuple(own, gain(slot, request, idle_slots), ~slots_[slot].last_opened);
  };
  return *std::max_element(idle_slots.begin(), idle_slots.end(), [&](int a, int b) { return rank(a) < rank(b); });
}

int PromptCache::open(int slot, const Request& request) {
  Slot& held = slots_[slot];
  const int position = resumable(slot, request);
  if (recurrent_ && position > 0 && position < static_cast<int>(held.tokens.size()))
    model_.load_state(slot, snapshots_.use({.slot = slot, .position = position}));
  else if (position > 0)
    take_snapshot(slot);  // the end of a turn, to which the client may come back
  snapshots_.drop_above(slot, position);
  held.tokens.resize(static_cast<size_t>(position));
  held.session_id = request.session_id;
  held.last_opened = ++opened_;
  return position;
}

int PromptCache::next_border(const Request& request, int position) const {
  const int end = static_cast<int>(request.tokens.size());
  if (!recurrent_ || !request.use_prompt_cache) return end;
  int border = std::min(end, (position / spacing(end) + 1) * spacing(end));
  if (const int last_on_grid = (end - 1) / kChunkGrid * kChunkGrid; last_on_grid > position)
    border = std::min(border, last_on_grid);
  const auto turn_end = std::upper_bound(request.turn_ends.begin(), request.turn_ends.end(), position);
  return turn_end == request.turn_ends.end() ? border : std::min(border, *turn_end);
}

void PromptCache::advance(int slot, std::span<const int32_t> tokens) {
  slots_[slot].tokens.insert(slots_[slot].tokens.end(), tokens.begin(), tokens.end());
}

void PromptCache::take_snapshot(int slot) {
  if (!recurrent_ || slots_[slot].tokens.empty()) return;
  const SnapshotKey key{.slot = slot, .position = static_cast<int>(slots_[slot].tokens.size())};
  try {
    const std::span<std::byte> room = snapshots_.put(key, model_.state_bytes());
    if (!room.empty()) model_.save_state(slot, room);
  } catch (const std::bad_alloc&) {  // memory is short: the conversation goes on without the snapshot
  }
}

void PromptCache::forget(int slot) {
  slots_[slot].tokens.clear();
  slots_[slot].session_id.clear();
  snapshots_.drop_above(slot, 0);
}

}  // namespace luce::engine
