#include "app/layer_metrics.hpp"

#include <algorithm>
#include <iterator>

#include "base/format.hpp"

namespace luce::app {
namespace {

using experts::ServiceCounters;

constexpr int kMostGroups = 4;

struct Figure {
  const char* name;
  const char* help;
  double (*value)(const ServiceCounters&);
};

constexpr Figure kFigures[] = {
    {"luce_expert_layers_hits_total", "Experts found resident, by tier and layers.",
     [](const ServiceCounters& c) { return static_cast<double>(c.all.hits); }},
    {"luce_expert_layers_misses_total", "Experts not found resident, by tier and layers.",
     [](const ServiceCounters& c) { return static_cast<double>(c.all.misses); }},
    {"luce_expert_layers_fetched_bytes_total", "Bytes fetched into the tier, by layers.",
     [](const ServiceCounters& c) { return static_cast<double>(c.bytes_fetched); }},
    {"luce_expert_layers_fetch_seconds_total", "Seconds of fetching into the tier, by layers.",
     [](const ServiceCounters& c) { return c.fetch_seconds; }},
    {"luce_expert_layers_stall_seconds_total", "Seconds that steps waited for experts, by tier and layers.",
     [](const ServiceCounters& c) { return c.stall_seconds; }},
    {"luce_expert_layers_evictions_total", "Experts that left the tier, by layers.",
     [](const ServiceCounters& c) { return static_cast<double>(c.evictions); }},
    {"luce_expert_layers_never_reused_total", "Experts that left the tier without a second use, by layers.",
     [](const ServiceCounters& c) { return static_cast<double>(c.never_reused); }},
    {"luce_expert_layers_substituted_total", "Routed experts that the hot bias replaced, by tier and layers.",
     [](const ServiceCounters& c) { return static_cast<double>(c.substituted); }},
    {"luce_expert_layers_displaced_weight_total", "Mixing weights of replaced experts, by tier and layers.",
     [](const ServiceCounters& c) { return c.displaced_weight; }},
};

}  // namespace

LayerMetrics::LayerMetrics(telemetry::Registry& registry, int layers) {
  const int groups = std::min(layers, kMostGroups);
  for (int i = 0; i < groups; ++i) {
    Group group{layers * i / groups, layers * (i + 1) / groups, {}};
    const std::string range = fmt::format("{}-{}", group.first, group.end - 1);
    for (const Figure& each : kFigures)
      group.counters.push_back(registry.counter({each.name, each.help, {{"tier", "host"}, {"layers", range}}}));
    groups_.push_back(std::move(group));
  }
}

void LayerMetrics::update(const experts::CachedExpertService& service) const {
  for (const Group& group : groups_) {
    double sums[std::size(kFigures)] = {};
    for (int layer = group.first; layer < group.end; ++layer) {
      const ServiceCounters counters = service.layer_counters(layer);
      for (size_t i = 0; i < std::size(kFigures); ++i) sums[i] += kFigures[i].value(counters);
    }
    for (size_t i = 0; i < std::size(kFigures); ++i) group.counters[i].add(sums[i] - group.counters[i].value());
  }
}

}  // namespace luce::app
