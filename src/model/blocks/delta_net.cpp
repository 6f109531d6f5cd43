#include "model/blocks/delta_net.hpp"

namespace luce::model {
namespace {

using device::Tensor;

int64_t key_channels(const Hyperparameters& h) { return h.recurrent_key_heads * h.recurrent_key_width; }

int64_t convolution_channels(const Hyperparameters& h) { return 2 * key_channels(h) + h.recurrent_width; }

int64_t value_width(const Hyperparameters& h) { return h.recurrent_width / h.recurrent_value_heads; }

struct KeyedValues {
  Tensor q, k;  // [rows, key_heads, key_width], normalised
  Tensor v;     // [rows, value_heads, value_width]
};

KeyedValues convolved(Step& step, const Hyperparameters& h, const DeltaNet& d, int layer, const Tensor& x) {
  const Tensor qkv = project(step, x, d.qkv);                                         // [rows, channels]
  const Tensor mixed = step.scratch.activations(step.rows, convolution_channels(h));  // [rows, channels]
  step.stream.convolve(
      {.x = qkv, .kernel = d.kernel, .state = step.memory.layer(layer).convolution, .spans = step.spans, .out = mixed});
  const int64_t keys = key_channels(h);
  const KeyedValues parts{
      device::split_heads(device::columns(mixed, 0, keys), h.recurrent_key_heads),
      device::split_heads(device::columns(mixed, keys, keys), h.recurrent_key_heads),
      device::split_heads(device::columns(mixed, 2 * keys, h.recurrent_width), h.recurrent_value_heads)};
  step.stream.l2_norm({.x = parts.q, .epsilon = h.norm_epsilon});
  step.stream.l2_norm({.x = parts.k, .epsilon = h.norm_epsilon});
  return parts;
}

}  // namespace

DeltaNet read_delta_net(const Hyperparameters& h, WeightReader& weights, const std::string& prefix) {
  const int64_t heads = h.recurrent_value_heads;
  DeltaNet d;
  d.qkv = weights.matrix(prefix + "attn_qkv.weight", convolution_channels(h), h.width);
  d.output_gate = weights.matrix(prefix + "attn_gate.weight", h.recurrent_width, h.width);
  d.alpha = weights.matrix(prefix + "ssm_alpha.weight", heads, h.width);
  d.beta = weights.matrix(prefix + "ssm_beta.weight", heads, h.width);
  d.kernel = weights.values(prefix + "ssm_conv1d.weight", {convolution_channels(h), h.convolution_taps});
  d.dt_bias = weights.values(prefix + "ssm_dt.bias", {heads});
  d.a = weights.values(prefix + "ssm_a", {heads});
  d.norm = weights.values(prefix + "ssm_norm.weight", {value_width(h)});
  d.output = weights.matrix(prefix + "ssm_out.weight", h.width, h.recurrent_width);
  return d;
}

Tensor delta_net(Step& step, const Hyperparameters& h, const DeltaNet& d, int layer, const Tensor& x) {
  const int64_t heads = h.recurrent_value_heads;
  const auto [q, k, v] = convolved(step, h, d, layer, x);
  const Tensor alpha = project(step, x, d.alpha);  // [rows, value_heads]
  const Tensor beta = project(step, x, d.beta);    // [rows, value_heads]
  step.stream.delta_gates({.alpha = alpha, .beta = beta, .dt_bias = d.dt_bias, .a = d.a});

  const Tensor out = device::split_heads(step.scratch.activations(step.rows, h.recurrent_width), heads);
  step.stream.delta_rule({.q = q,
                          .k = k,
                          .v = v,
                          .decay = alpha,
                          .beta = beta,
                          .state = step.memory.layer(layer).state,
                          .spans = step.spans,
                          .out = out});
  step.stream.rms_norm({.x = out, .weight = d.norm, .out = out, .epsilon = h.norm_epsilon});
  const Tensor gate = device::split_heads(project(step, x, d.output_gate), heads);
  step.stream.multiply_gate({.x = out, .gate = gate, .function = device::GateFunction::silu});
  return project(step, device::join_heads(out), d.output);
}

LayerMemory delta_net_memory(const Hyperparameters& h) {
  return {.convolution_taps = h.convolution_taps,
          .convolution_channels = convolution_channels(h),
          .state_heads = h.recurrent_value_heads,
          .state_key_width = h.recurrent_key_width,
          .state_value_width = value_width(h)};
}

}  // namespace luce::model
