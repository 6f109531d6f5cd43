#include "model/blocks/attention.hpp"

#include <cmath>

namespace luce::model {
namespace {

using device::Tensor;

struct Queries {
  Tensor query;  // [rows, heads, key_width]
  Tensor gate;   // the same, or empty
};

Queries split_gate(const Tensor& projected, const Hyperparameters& h, bool gated) {
  const Tensor heads = device::split_heads(projected, h.heads);
  if (!gated) return {heads, {}};
  return {device::columns(heads, 0, h.key_width), device::columns(heads, h.key_width, h.key_width)};
}

void turn(Step& step, const Hyperparameters& h, const Attention& a, const Tensor& heads) {
  step.stream.rotary({.x = heads,
                      .positions = step.positions,
                      .frequency_factors = a.frequency_factors,
                      .dimensions = h.rotary_dimensions,
                      .base = h.rotary_base,
                      .frequency_scale = h.rotary_scale,
                      .style = a.rotary_style});
}

void normalise_heads(Step& step, const Hyperparameters& h, const Tensor& heads, const Tensor& weight) {
  if (weight.empty()) return;
  step.stream.rms_norm({.x = heads, .weight = weight, .out = heads, .epsilon = h.norm_epsilon});
}

}  // namespace

Attention read_attention(const Hyperparameters& h, WeightReader& weights, const std::string& prefix, bool gated) {
  const int64_t query_rows = h.heads * h.key_width * (gated ? 2 : 1);
  const int64_t key_rows = h.kv_heads * h.key_width;
  const int64_t value_rows = h.kv_heads * h.value_width;
  Attention a;
  a.query = weights.matrix(prefix + "attn_q.weight", query_rows, h.width);
  a.key = weights.matrix(prefix + "attn_k.weight", key_rows, h.width);
  a.value = weights.matrix(prefix + "attn_v.weight", value_rows, h.width);
  a.output = weights.matrix(prefix + "attn_output.weight", h.width, h.heads * h.value_width);
  a.query_bias = weights.optional_values(prefix + "attn_q.bias", {query_rows});
  a.key_bias = weights.optional_values(prefix + "attn_k.bias", {key_rows});
  a.value_bias = weights.optional_values(prefix + "attn_v.bias", {value_rows});
  a.output_bias = weights.optional_values(prefix + "attn_output.bias", {h.width});
  a.gated = gated;
  return a;
}

Tensor attention(Step& step, const Hyperparameters& h, const Attention& a, int layer, const Tensor& x) {
  const Tensor projected = project(step, x, a.query, a.query_bias);                           // [rows, query_rows]
  const Tensor k = device::split_heads(project(step, x, a.key, a.key_bias), h.kv_heads);      // [rows, kv_heads, key]
  const Tensor v = device::split_heads(project(step, x, a.value, a.value_bias), h.kv_heads);  // [rows, kv_heads, value]
  const auto [q, gate] = split_gate(projected, h, a.gated);                                   // [rows, heads, key]
  normalise_heads(step, h, q, a.query_norm);
  normalise_heads(step, h, k, a.key_norm);
  turn(step, h, a, q);
  turn(step, h, a, k);

  const SequenceMemory::Layer& memory = step.memory.layer(layer);
  step.stream.append_kv({.k = k,
                         .v = v,
                         .slots = step.slots,
                         .positions = step.positions,
                         .k_cache = memory.keys,
                         .v_cache = memory.values});
  const Tensor mixed = device::split_heads(step.scratch.activations(step.rows, h.heads * h.value_width), h.heads);
  step.stream.attend({.q = q,
                      .k_cache = memory.keys,
                      .v_cache = memory.values,
                      .slots = step.slots,
                      .positions = step.positions,
                      .out = mixed,
                      .kv_heads = h.kv_heads,
                      .scale = 1.0F / std::sqrt(static_cast<float>(h.key_width))});
  if (a.gated) step.stream.multiply_gate({.x = mixed, .gate = gate, .function = device::GateFunction::sigmoid});
  return project(step, device::join_heads(mixed), a.output, a.output_bias);
}

LayerMemory attention_memory(const Hyperparameters& h) {
  return {.key_values = h.kv_heads * h.key_width, .value_values = h.kv_heads * h.value_width};
}

}  // namespace luce::model
