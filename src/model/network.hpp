#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "model/hyperparameters.hpp"
#include "model/step.hpp"
#include "model/weight_reader.hpp"

namespace luce::model {

/// An architecture: the weights of its layers and what one layer computes.
class Network {
 public:
  virtual ~Network() = default;
  /// What each layer remembers of a sequence.
  virtual std::vector<LayerMemory> memory() const = 0;
  /// step.x becomes the output of layer `index`.
  virtual void layer(Step& step, int index) const = 0;
};

/// What the file of an architecture must hold, and who builds its network.
struct ArchitectureTraits {
  std::unique_ptr<Network> (*make)(const Hyperparameters&, WeightReader&);
  bool hybrid = false;            // delta networks between attention layers
  bool experts = false;           // routed experts in every layer
  bool optional_experts = false;  // routed experts if the file says so
  bool shared_expert = false;
};

/// Throws Error{unsupported} that lists the known architectures.
const ArchitectureTraits& find_architecture(std::string_view name);

}  // namespace luce::model
