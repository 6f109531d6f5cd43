#include "model/blocks/hybrid_mixer.hpp"

namespace luce::model {

bool is_recurrent(const Hyperparameters& h, int layer) { return (layer + 1) % h.full_attention_interval != 0; }

HybridMixer read_mixer(const Hyperparameters& h, WeightReader& weights, const std::string& prefix, int layer) {
  HybridMixer m;
  m.recurrent = is_recurrent(h, layer);
  if (m.recurrent) {
    m.delta_net = read_delta_net(h, weights, prefix);
    return m;
  }
  m.attention = read_attention(h, weights, prefix, true);
  m.attention.query_norm = weights.values(prefix + "attn_q_norm.weight", {h.key_width});
  m.attention.key_norm = weights.values(prefix + "attn_k_norm.weight", {h.key_width});
  return m;
}

device::Tensor mix(Step& step, const Hyperparameters& h, const HybridMixer& m, int layer, const device::Tensor& x) {
  return m.recurrent ? delta_net(step, h, m.delta_net, layer, x) : attention(step, h, m.attention, layer, x);
}

std::vector<LayerMemory> hybrid_memory(const Hyperparameters& h) {
  std::vector<LayerMemory> layers;
  for (int index = 0; index < h.layers; ++index) {
    layers.push_back(is_recurrent(h, index) ? delta_net_memory(h) : attention_memory(h));
  }
  return layers;
}

}  // namespace luce::model
