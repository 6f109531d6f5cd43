#pragma once

#include <vector>

#include "experts/cached_expert_service.hpp"
#include "telemetry/registry.hpp"

namespace luce::app {

/// Figures of the expert cache by tier and group of layers: luce_expert_layers_*. At most four groups of consecutive
/// layers, so that their number does not grow with the model.
class LayerMetrics {
 public:
  /// The registry must outlive this.
  LayerMetrics(telemetry::Registry& registry, int layers);
  /// Raises the counters to the service's totals; one thread at a time.
  void update(const experts::CachedExpertService& service) const;

 private:
  struct Group {
    int first = 0;
    int end = 0;
    std::vector<telemetry::Counter> counters;  // as in the table of figures
  };
  std::vector<Group> groups_;
};

}  // namespace luce::app
