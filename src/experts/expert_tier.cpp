#include "experts/expert_tier.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace luce::experts {
namespace {

using Field = CounterTable::Field;

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
    const std::lock_guard lock(mutex_);
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
    if (job.priority == FetchPriority::warm) {
      ++(result.failure ? warmed_.failed : warmed_.loaded);
      if (result.failure && !warmed_.first_failure) warmed_.first_failure = result.failure;
    }
  }
  changed_.notify_all();
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
