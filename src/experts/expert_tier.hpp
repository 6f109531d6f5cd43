#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "experts/expert_cache.hpp"
#include "experts/fetcher.hpp"
#include "experts/slot_pool.hpp"
#include "experts/stream_slots.hpp"

namespace luce::experts {

struct TierSettings {
  std::vector<int> slots;  // [layers of the model], at least 1 where there are experts
  PolicySpec policy = PolicySpec::parse("hot-score");
  int fetch_threads = 2;
  int stream_slots = 4;  // at least 1
};

/// What warming has fetched so far.
struct WarmTally {
  int64_t loaded = 0;
  int64_t failed = 0;
  std::optional<FetchFailure> first_failure;
};

/// The fastest tier: the cache's decisions, the memory of its slots and the threads that fill them, behind one lock.
/// Members that take a lock want it held on this tier's mutex. Slot numbers from first_stream_slot() on are stream
/// slots.
class ExpertTier {
 public:
  /// Allocates all memory. The source and the device must outlive this. Throws Error{out_of_memory}.
  ExpertTier(const ExpertSource& source, device::Device& device, const TierSettings& settings);

  std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }
  /// Sleeps until a fetch has ended.
  void wait(std::unique_lock<std::mutex>& lock) { changed_.wait(lock); }

  ExpertCache& cache(const std::unique_lock<std::mutex>&) { return cache_; }
  StreamSlots& stream(const std::unique_lock<std::mutex>&) { return stream_; }
  const WarmTally& warmed(const std::unique_lock<std::mutex>&) const { return warmed_; }

  /// Starts filling a slot that is in state loading.
  void fetch(const std::unique_lock<std::mutex>&, FetchJob job);
  /// A step waits for this slot, whose fetch may have been started for later.
  void hurry(const std::unique_lock<std::mutex>&, int slot) { fetcher_.hurry(slot); }
  /// Fetches these beside the steps, in this order and a few at a time, each into a free slot or over a resident that
  /// is worth less.
  void fetch_ahead(const std::unique_lock<std::mutex>&, std::span<const ExpertId> wanted);
  /// Goes on with that; cheap where nothing is wanted.
  void advance_ahead(const std::unique_lock<std::mutex>&);
  bool fetches_ahead(const std::unique_lock<std::mutex>&) const { return ahead_in_flight_ > 0; }
  SlotState state(const std::unique_lock<std::mutex>&, int slot) const;
  /// Why the slot's fetch failed.
  const FetchFailure& failure(const std::unique_lock<std::mutex>&, int slot) const {
    return *failures_[static_cast<size_t>(slot)];
  }

  SlotPool& pool() { return pool_; }
  device::Device& device() { return device_; }
  int first_stream_slot() const { return pool_.total(); }
  device::Address address(int slot) const;
  const ExpertSource& source() const { return source_; }
  CounterTable& counters() { return counters_; }
  const CounterTable& counters() const { return counters_; }
  /// Slots in service, and their bytes.
  int slots(const std::unique_lock<std::mutex>&) const { return pool_.kept(); }
  size_t slot_bytes(const std::unique_lock<std::mutex>&) const { return pool_.bytes(); }
  size_t stream_bytes() const { return stream_.bytes(); }
  size_t read_buffer_bytes() const { return fetcher_.staging_bytes(); }
  size_t policy_bytes() const { return policy_bytes_; }

 private:
  void fetched(const FetchResult& result);
  void count(const FetchResult& result);

  const ExpertSource& source_;
  device::Device& device_;
  CounterTable counters_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  ExpertCache cache_;
  SlotPool pool_;
  StreamSlots stream_;
  std::vector<std::optional<FetchFailure>> failures_;  // [slots and stream slots]
  WarmTally warmed_;
  std::deque<ExpertId> ahead_;  // wanted for requests that started
  int ahead_in_flight_ = 0;
  size_t policy_bytes_ = 0;
  Fetcher fetcher_;  // last, so that its threads end before what they use
};

/// Bytes of read buffers and stream slots that these settings take, for the memory plan.
size_t staging_bytes(const ExpertSource& source, int fetch_threads, int stream_slots);
/// Bytes of what the policy remembers of all layers, for the memory plan.
size_t policy_bytes(const ExpertSource& source, const PolicySpec& policy);

}  // namespace luce::experts
