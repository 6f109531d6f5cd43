#include "experts/wave_dispatch.hpp"

#include <algorithm>
#include <chrono>

namespace luce::experts {

WaveDispatch::WaveDispatch(ExpertTier& tier, int max_experts) : tier_(tier) {
  const auto room = static_cast<size_t>(max_experts);
  for (auto* held : {&wave_, &ready_, &pending_}) held->reserve(room);
  streams_.reserve(room);
  placed_.reserve(room);
}

void WaveDispatch::open(const LayerUse& use, const LayerUse& wanted) {
  const Lock lock = tier_.lock();
  close(lock);
  layer_ = use.layer;
  ExpertCache& cache = tier_.cache(lock);
  cache.begin_step(use, wanted);
  for (const UsedExpert& used : use.experts) {
    const int slot = cache.find(layer_, used.expert);
    if (slot == ExpertCache::kNoSlot) continue;
    const bool here = cache.state(slot) == SlotState::resident;
    (here ? ready_ : pending_).push_back({used.expert, slot, cache.lease(slot)});
    if (!here) tier_.hurry(lock, slot);
  }
  for (const UsedExpert& used : use.experts)
    if (cache.find(layer_, used.expert) == ExpertCache::kNoSlot && !claim(lock, used.expert))
      streams_.push_back(used.expert);
  std::reverse(streams_.begin(), streams_.end());
  start_streams(lock);
}

/// Fetches a missing expert into a slot of its own if the cache admits it. By now it may have come for other reasons.
bool WaveDispatch::claim(const Lock& lock, int32_t expert) {
  if (const int held = tier_.cache(lock).find(layer_, expert); held != ExpertCache::kNoSlot) {
    pending_.push_back({expert, held, tier_.cache(lock).lease(held)});
    tier_.hurry(lock, held);
    return true;
  }
  const auto slot = tier_.cache(lock).admit(layer_, expert);
  if (!slot) return false;
  pending_.push_back({expert, *slot, tier_.cache(lock).lease(*slot)});
  tier_.fetch(lock, {layer_, expert, 0, *slot, FetchPriority::demand});
  return true;
}

void WaveDispatch::start_streams(const Lock& lock) {
  while (!streams_.empty()) {
    if (claim(lock, streams_.back())) {
      streams_.pop_back();
      continue;
    }
    const auto taken = tier_.stream(lock).take();
    if (!taken) return;
    const int slot = tier_.first_stream_slot() + *taken;
    pending_.push_back({streams_.back(), slot, {}});
    tier_.fetch(lock, {layer_, streams_.back(), 0, slot, FetchPriority::demand});
    streams_.pop_back();
  }
}

void WaveDispatch::let_go(const Lock& lock, std::vector<Held>& held) {
  for (const Held& one : held)
    if (one.slot >= tier_.first_stream_slot()) tier_.stream(lock).release(one.slot - tier_.first_stream_slot());
  held.clear();
}

void WaveDispatch::close() { close(tier_.lock()); }

void WaveDispatch::close(const Lock& lock) {
  for (auto* held : {&wave_, &ready_, &pending_}) let_go(lock, *held);
  streams_.clear();
}

std::span<const device::PlacedExpert> WaveDispatch::next_wave() {
  Lock lock = tier_.lock();
  let_go(lock, wave_);
  start_streams(lock);
  if (ready_.empty()) {
    if (pending_.empty() && streams_.empty()) return {};
    wait_for_arrival(lock);
    collect_arrived(lock);
  } else {
    std::swap(wave_, ready_);
  }
  return place_wave();
}

void WaveDispatch::wait_for_arrival(Lock& lock) {
  const auto begin = std::chrono::steady_clock::now();
  while (!arrived(lock)) {
    tier_.wait(lock);
    start_streams(lock);  // a slot that an earlier dispatch left behind may have become free
  }
  const std::chrono::nanoseconds stalled = std::chrono::steady_clock::now() - begin;
  tier_.counters().add(layer_, CounterTable::Field::stall_nanoseconds, static_cast<uint64_t>(stalled.count()));
}

bool WaveDispatch::arrived(const Lock& lock) const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [&](const Held& held) { return tier_.state(lock, held.slot) != SlotState::loading; });
}

/// Moves what has come from pending_ to wave_; throws if any of it failed.
void WaveDispatch::collect_arrived(const Lock& lock) {
  for (const Held& held : pending_) {
    if (tier_.state(lock, held.slot) != SlotState::failed) continue;
    const FetchFailure failure = tier_.failure(lock, held.slot);
    close(lock);
    throw Error(failure.kind, failure.message);
  }
  const auto still_loading = std::stable_partition(pending_.begin(), pending_.end(), [&](const Held& held) {
    return tier_.state(lock, held.slot) == SlotState::loading;
  });
  std::move(still_loading, pending_.end(), std::back_inserter(wave_));
  pending_.erase(still_loading, pending_.end());
}

std::span<const device::PlacedExpert> WaveDispatch::place_wave() {
  const SlotLayout& layout = tier_.source().layout(layer_);
  placed_.clear();
  for (const Held& held : wave_) {
    const device::Address gate = tier_.address(held.slot);
    placed_.push_back({held.expert, gate, gate + layout.up_offset, gate + layout.down_offset});
  }
  return placed_;
}

}  // namespace luce::experts
