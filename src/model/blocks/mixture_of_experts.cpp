#include "model/blocks/mixture_of_experts.hpp"

namespace luce::model {
namespace {

using device::Tensor;

Tensor shared_expert(Step& step, const MixtureOfExperts& m, const Tensor& x) {
  const Tensor out = feed_forward(step, m.shared, x);   // [rows, width]
  const Tensor gate = project(step, x, m.shared_gate);  // [rows, 1]
  step.stream.multiply_gate({.x = out, .gate = gate, .function = device::GateFunction::sigmoid});
  return out;
}

device::ExpertBlock route(Step& step, const Hyperparameters& h, const MixtureOfExperts& m, int layer, const Tensor& x) {
  const int64_t pairs = static_cast<int64_t>(step.rows) * h.experts_used;
  device::ExpertBlock block{.x = x,
                            .ids = step.scratch.indices(step.rows, h.experts_used),
                            .weights = step.scratch.activations(step.rows, h.experts_used),
                            .hidden = step.scratch.activations(pairs, h.expert_feed_forward),
                            .parts = step.scratch.activations(pairs, h.width),
                            .out = step.scratch.activations(step.rows, h.width),
                            .service = step.experts,
                            .classes = step.classes,
                            .layer = layer};
  const Tensor logits = step.scratch.activations(step.rows, h.experts);
  step.stream.router_logits({.x = x, .weight = m.router, .logits = logits});
  step.stream.select_experts(
      {.logits = logits,
       .ids = block.ids,
       .weights = block.weights,
       .top_k = h.experts_used,
       .change = step.experts == nullptr ? device::RouterChange{} : step.experts->router_change(),
       .rule = step.experts == nullptr ? nullptr : step.experts->selection_rule(),
       .classes = step.classes,
       .layer = layer});
  return block;
}

}  // namespace

MixtureOfExperts read_mixture(const Hyperparameters& h, WeightReader& weights, const std::string& prefix, int layer) {
  MixtureOfExperts m;
  m.router = weights.matrix(prefix + "ffn_gate_inp.weight", h.experts, h.width);
  weights.experts(prefix, layer, {.experts = h.experts, .width = h.width, .inner = h.expert_feed_forward});
  return m;
}

void read_shared_expert(const Hyperparameters& h, WeightReader& weights, const std::string& prefix,
                        MixtureOfExperts& mixture) {
  mixture.shared = read_feed_forward(weights, prefix, "_shexp", {h.shared_feed_forward, h.width});
  mixture.shared_gate = weights.matrix(prefix + "ffn_gate_inp_shexp.weight", 1, h.width);
  mixture.has_shared = true;
}

Tensor mixture_of_experts(Step& step, const Hyperparameters& h, const MixtureOfExperts& m, int layer, const Tensor& x) {
  const device::ExpertBlock block = route(step, h, m, layer, x);
  step.stream.start_experts(block);
  const Tensor shared = m.has_shared ? shared_expert(step, m, x) : Tensor{};
  step.stream.finish_experts(block);
  if (m.has_shared) step.stream.add({.x = block.out, .y = shared});
  return block.out;
}

}  // namespace luce::model
