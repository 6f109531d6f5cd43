#include "experts/counters.hpp"

#include <array>

namespace luce::experts {
namespace {

using Sums = std::array<uint64_t, CounterTable::kFields>;
constexpr double kSecondsPerNanosecond = 1e-9;

ServiceCounters named(const Sums& sums) {
  const auto at = [&sums](CounterTable::Field field) { return sums[static_cast<size_t>(field)]; };
  using F = CounterTable::Field;
  ServiceCounters counters;
  counters.all = {at(F::hits), at(F::misses)};
  counters.prompt = {at(F::prompt_hits), at(F::prompt_misses)};
  counters.decode = {at(F::decode_hits), at(F::decode_misses)};
  counters.fetches = at(F::fetches);
  counters.fetch_errors = at(F::fetch_errors);
  counters.bytes_fetched = at(F::bytes_fetched);
  counters.fetched_ahead = at(F::fetched_ahead);
  counters.streamed = at(F::streamed);
  counters.evictions = at(F::evictions);
  counters.near_misses = at(F::near_misses);
  counters.never_reused = at(F::never_reused);
  counters.fetch_seconds = static_cast<double>(at(F::fetch_nanoseconds)) * kSecondsPerNanosecond;
  counters.substituted = at(F::substituted);
  counters.dropped = at(F::dropped);
  counters.reweighted = at(F::reweighted);
  counters.displaced_weight = static_cast<double>(at(F::displaced_millionths)) / 1e6;
  counters.stall_seconds = static_cast<double>(at(F::stall_nanoseconds)) * kSecondsPerNanosecond;
  return counters;
}

}  // namespace

CounterTable::CounterTable(int layers) : cells_(static_cast<size_t>(layers) * kFields) {}

ServiceCounters CounterTable::of_layer(int layer) const {
  Sums sums{};
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = cells_[static_cast<size_t>(layer) * kFields + i].load(std::memory_order_relaxed);
  return named(sums);
}

ServiceCounters CounterTable::total() const {
  Sums sums{};
  for (size_t cell = 0; cell < cells_.size(); ++cell)
    sums[cell % kFields] += cells_[cell].load(std::memory_order_relaxed);
  return named(sums);
}

}  // namespace luce::experts
