#include "experts/replay.hpp"

#include "base/error.hpp"
#include "experts/expert_cache.hpp"
#include "experts/future_policy.hpp"
#include "experts/slot_balancer.hpp"
#include "experts/trace_steps.hpp"
#include "experts/warm_up.hpp"

namespace luce::experts {
namespace {

void check_settings(const Trace& trace, const ReplaySettings& settings) {
  if (settings.slots < 1 || settings.slots > trace.experts())
    fail(ErrorKind::usage, "replay: {} slots per layer are out of range; give 1 to {}", settings.slots,
         trace.experts());
  if (settings.streams < 1 || settings.streams > 4096)
    fail(ErrorKind::usage, "replay: {} streams are out of range; give 1 to 4096", settings.streams);
  const auto* profile = settings.profile;
  if (profile && (profile->size() != static_cast<size_t>(trace.layers()) ||
                  (*profile)[0].size() != static_cast<size_t>(trace.experts())))
    fail(ErrorKind::usage, "replay: the profile is of another model; it must have {} layers of {} experts",
         trace.layers(), trace.experts());
}

/// Whether a miss that found no slot has been moved: a cache that admits everything streams it through.
bool streams_misses(const LayerPolicy& policy) { return !policy.gate(); }

void start_warm(ExpertCache& cache, const std::vector<std::vector<double>>& profile) {
  for (size_t layer = 0; layer < profile.size(); ++layer) cache.seed(static_cast<int>(layer), profile[layer]);
  for (const ExpertId& id : rank_experts(profile))
    if (const auto slot = cache.admit_free(id.layer, id.expert)) cache.loaded(*slot);
}

/// One layer's step: misses are admitted in row order. Returns uploads.
int64_t run_layer(ExpertCache& cache, const LayerUse& use, bool streams) {
  int64_t uploads = 0;
  cache.begin_step(use);
  for (const UsedExpert& used : use.experts) {
    if (cache.find(use.layer, used.expert) != ExpertCache::kNoSlot) continue;
    const auto slot = cache.admit(use.layer, used.expert);
    if (slot) cache.loaded(*slot);
    if (slot || streams) ++uploads;
  }
  return uploads;
}

ReplayResult run(TraceSteps& steps, const Trace& trace, const ReplaySettings& settings, const PolicyFactory& factory) {
  const std::vector<int> slots(static_cast<size_t>(trace.layers()), settings.slots);
  const std::vector<int> experts(slots.size(), trace.experts());
  CounterTable counters(trace.layers());
  const bool streams = streams_misses(*factory(0, trace.experts()));
  ExpertCache cache({experts, slots}, factory, counters);
  if (settings.profile) start_warm(cache, *settings.profile);
  SlotBalancer balancer(cache, counters, std::vector<size_t>(slots.size(), 1), experts);
  ReplayResult result;
  for (int64_t step = 0; step < steps.count(); ++step) {
    for (int layer = 0; layer < trace.layers(); ++layer)
      result.uploads += run_layer(cache, steps.use(step, layer), streams);
    if (settings.move_slots) balancer.advance(steps.rows(step), trace.top_k());
  }
  const ServiceCounters total = counters.total();
  result.accesses = static_cast<int64_t>(total.all.accesses());
  result.hits = static_cast<int64_t>(total.all.hits);
  return result;
}

}  // namespace

ReplayResult replay(const Trace& trace, const ReplaySettings& settings) {
  check_settings(trace, settings);
  TraceSteps steps(trace, settings.streams);
  if (settings.policy == "opt" || settings.policy == "opt-bypass")
    return run(steps, trace, settings, future_policy(steps, settings.policy == "opt-bypass"));
  return run(steps, trace, settings, PolicySpec::parse(settings.policy).factory());
}

ReplayResult replay(const Trace& trace, const ReplaySettings& settings, const PolicyFactory& factory) {
  check_settings(trace, settings);
  TraceSteps steps(trace, settings.streams);
  return run(steps, trace, settings, factory);
}

}  // namespace luce::experts
