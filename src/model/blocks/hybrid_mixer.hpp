#pragma once

#include "model/blocks/attention.hpp"
#include "model/blocks/delta_net.hpp"

namespace luce::model {

/// The token mixer of a qwen35 layer: gated attention in every full_attention_interval-th layer, else a delta network.
struct HybridMixer {
  bool recurrent = false;
  Attention attention;
  DeltaNet delta_net;
};

bool is_recurrent(const Hyperparameters& h, int layer);

HybridMixer read_mixer(const Hyperparameters& h, WeightReader& weights, const std::string& prefix, int layer);

/// [rows, width] from the normalised input x [rows, width].
device::Tensor mix(Step& step, const Hyperparameters& h, const HybridMixer& m, int layer, const device::Tensor& x);

std::vector<LayerMemory> hybrid_memory(const Hyperparameters& h);

}  // namespace luce::model
