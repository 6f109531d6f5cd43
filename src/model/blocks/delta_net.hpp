#pragma once

#include "model/hyperparameters.hpp"
#include "model/step.hpp"
#include "model/weight_reader.hpp"

namespace luce::model {

/// A gated delta network, the recurrent layer of qwen35. Source: Gated Delta Networks, arXiv 2412.06464.
struct DeltaNet {
  device::Tensor qkv;          // [2 * key_heads * key_width + value_heads * value_width, width]
  device::Tensor output_gate;  // [value_heads * value_width, width]
  device::Tensor alpha, beta;  // [value_heads, width]
  device::Tensor kernel;       // [channels, taps]
  device::Tensor dt_bias, a;   // [value_heads]
  device::Tensor norm;         // [value_width], one for all heads
  device::Tensor output;       // [width, value_heads * value_width]
};

DeltaNet read_delta_net(const Hyperparameters& h, WeightReader& weights, const std::string& prefix);

/// [rows, width] from the normalised input x [rows, width].
device::Tensor delta_net(Step& step, const Hyperparameters& h, const DeltaNet& d, int layer, const device::Tensor& x);

LayerMemory delta_net_memory(const Hyperparameters& h);

}  // namespace luce::model
