#include "experts/expert_tier.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace luce::experts {
namespace {

using Field = CounterTable::Field;

constexpr int kAheadInFlight = 8;  // keeps a demand fetch from waiting behind many
constexpr int kAheadTries = 64;    // bounds what a step pays at once

size_t largest_slot(const ExpertSource& source) {
  size_t largest = 0;
  for (int layer = 0; layer < source.layers(); ++layer) largest = std::max(largest, source.layout(layer).slot_bytes);
  return largest;
}

ExpertCache::Shape cache_shape(const ExpertSource& source, const std::vector<int>& slots) {
  ExpertCache::Shape shape{{}, slots};
  for (int layer = 0; layer < source.layers(); ++layer) shape.experts.push_back(source.shape(layer).experts);
  return shape;
}

}  // namespace

ExpertTier::ExpertTier(const ExpertSource& source, device::Device& device, const TierSettings& settings)
    : source_(source),
      device_(device),
      counters_(source.layers()),
      cache_(cache_shape(source, settings.slots), settings.policy.factory(), counters_),
      pool_(device, source, settings.slots),
      stream_(device, settings.stream_slots, largest_slot(source)),
      failures_(static_cast<size_t>(pool_.total() + settings.stream_slots)),
      fetcher_(source, settings.fetch_threads, [this](const FetchResult& result) { fetched(result); }) {
  policy_bytes_ = experts::policy_bytes(source, settings.policy);
  LUCE_CHECK(settings.stream_slots > 0 && settings.fetch_threads > 0, "a cache without stream slots or fetch threads");
}

void ExpertTier::fetch(const std::unique_lock<std::mutex>&, FetchJob job) {
  failures_[static_cast<size_t>(job.slot)].reset();
  job.to = address(job.slot);
  fetcher_.submit(job);
}

SlotState ExpertTier::state(const std::unique_lock<std::mutex>&, int slot) const {
  return slot < pool_.total() ? cache_.state(slot) : stream_.state(slot - pool_.total());
}

device::Address ExpertTier::address(int slot) const {
  return slot < pool_.total() ? pool_.address(slot) : stream_.address(slot - pool_.total());
}

void ExpertTier::fetched(const FetchResult& result) {
  const FetchJob& job = result.job;
  {
    const std::unique_lock lock(mutex_);
    const bool streamed = job.slot >= pool_.total();
    if (result.failure) {
      failures_[static_cast<size_t>(job.slot)] = result.failure;
      streamed ? stream_.load_failed(job.slot - pool_.total()) : cache_.load_failed(job.slot);
      counters_.add(job.layer, Field::fetch_errors);
    } else {
      streamed ? stream_.loaded(job.slot - pool_.total()) : cache_.loaded(job.slot);
      counters_.add(job.layer, Field::fetches);
      counters_.add(job.layer, Field::bytes_fetched, source_.fetch_bytes(job.layer));
      counters_.add(job.layer, Field::fetch_nanoseconds, result.nanoseconds);
      if (streamed) counters_.add(job.layer, Field::streamed);
    }
    count(result);
    if (job.priority == FetchPriority::ahead) advance_ahead(lock);
  }
  changed_.notify_all();
}

void ExpertTier::count(const FetchResult& result) {
  if (result.job.priority == FetchPriority::ahead) {
    --ahead_in_flight_;
    if (!result.failure) counters_.add(result.job.layer, Field::fetched_ahead);
  }
  if (result.job.priority != FetchPriority::warm) return;
  ++(result.failure ? warmed_.failed : warmed_.loaded);
  if (result.failure && !warmed_.first_failure) warmed_.first_failure = result.failure;
}

void ExpertTier::fetch_ahead(const std::unique_lock<std::mutex>& lock, std::span<const ExpertId> wanted) {
  ahead_.insert(ahead_.end(), wanted.begin(), wanted.end());
  const auto room = static_cast<size_t>(pool_.total());
  if (ahead_.size() > room) ahead_.erase(ahead_.begin(), ahead_.end() - static_cast<std::ptrdiff_t>(room));
  advance_ahead(lock);
}

void ExpertTier::advance_ahead(const std::unique_lock<std::mutex>& lock) {
  for (int tries = kAheadTries; tries > 0 && !ahead_.empty() && ahead_in_flight_ < kAheadInFlight; --tries) {
    const ExpertId id = ahead_.front();
    ahead_.pop_front();
    if (cache_.find(id.layer, id.expert) != ExpertCache::kNoSlot) continue;
    const auto slot = cache_.admit_ahead(id.layer, id.expert);
    if (!slot) continue;
    ++ahead_in_flight_;
    fetch(lock, {id.layer, id.expert, 0, *slot, FetchPriority::ahead});
  }
}

size_t policy_bytes(const ExpertSource& source, const PolicySpec& policy) {
  size_t bytes = 0;
  for (int layer = 0; layer < source.layers(); ++layer) bytes += policy.bytes(source.shape(layer).experts);
  return bytes;
}

size_t staging_bytes(const ExpertSource& source, int fetch_threads, int stream_slots) {
  return static_cast<size_t>(fetch_threads) * source.staging_bytes() +
         static_cast<size_t>(stream_slots) * largest_slot(source);
}

}  // namespace luce::experts
