#pragma once

#include "model/blocks/feed_forward.hpp"

namespace luce::model {

/// Routed experts behind the expert service, and a shared expert where the architecture has one.
struct MixtureOfExperts {
  device::Tensor router;  // [experts, width]
  FeedForward shared;
  device::Tensor shared_gate;  // [1, width]; sigmoid of it scales the shared expert
  bool has_shared = false;
};

MixtureOfExperts read_mixture(const Hyperparameters& h, WeightReader& weights, const std::string& prefix, int layer);

/// Adds the shared expert's tensors.
void read_shared_expert(const Hyperparameters& h, WeightReader& weights, const std::string& prefix,
                        MixtureOfExperts& mixture);

/// [rows, width] from the normalised input x [rows, width].
device::Tensor mixture_of_experts(Step& step, const Hyperparameters& h, const MixtureOfExperts& m, int layer,
                                  const device::Tensor& x);

}  // namespace luce::model
