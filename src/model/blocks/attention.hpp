#pragma once

#include "model/hyperparameters.hpp"
#include "model/step.hpp"
#include "model/weight_reader.hpp"

namespace luce::model {

/// Causal attention with grouped heads. Norms and biases are empty where an architecture has none.
struct Attention {
  device::Tensor query;   // [heads * key_width, width]; gated: [heads * 2 * key_width, width], query then gate per head
  device::Tensor key;     // [kv_heads * key_width, width]
  device::Tensor value;   // [kv_heads * value_width, width]
  device::Tensor output;  // [width, heads * value_width]
  device::Tensor query_bias, key_bias, value_bias, output_bias;
  device::Tensor query_norm, key_norm;  // [key_width], one for all heads
  device::Tensor frequency_factors;     // [rotary_dimensions / 2]
  device::RotaryStyle rotary_style = device::RotaryStyle::halves;
  bool gated = false;
};

/// The tensors of one layer under their GGUF names; norms and gate are set by the architecture.
Attention read_attention(const Hyperparameters& h, WeightReader& weights, const std::string& prefix, bool gated);

/// [rows, width] from the normalised input x [rows, width].
device::Tensor attention(Step& step, const Hyperparameters& h, const Attention& a, int layer, const device::Tensor& x);

LayerMemory attention_memory(const Hyperparameters& h);

}  // namespace luce::model
