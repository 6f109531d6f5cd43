#include "model/blocks/feed_forward.hpp"

namespace luce::model {

FeedForward read_feed_forward(WeightReader& weights, const std::string& prefix, const std::string& suffix,
                              const tensor::Shape& inner_and_width) {
  const int64_t inner = inner_and_width[0];
  const int64_t width = inner_and_width[1];
  FeedForward f;
  f.gate = weights.matrix(prefix + "ffn_gate" + suffix + ".weight", inner, width);
  f.up = weights.matrix(prefix + "ffn_up" + suffix + ".weight", inner, width);
  f.down = weights.matrix(prefix + "ffn_down" + suffix + ".weight", width, inner);
  return f;
}

device::Tensor feed_forward(Step& step, const FeedForward& f, const device::Tensor& x) {
  const device::Tensor gate = project(step, x, f.gate);  // [rows, inner]
  const device::Tensor up = project(step, x, f.up);      // [rows, inner]
  step.stream.swiglu({.gate = gate, .up = up, .out = gate});
  return project(step, gate, f.down);
}

}  // namespace luce::model
