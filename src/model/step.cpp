#include "model/step.hpp"

namespace luce::model {

device::Tensor project(Step& step, const device::Tensor& x, const device::Tensor& weight, const device::Tensor& bias) {
  const device::Tensor out = step.scratch.activations(x.shape[0], weight.shape[0]);
  step.stream.matmul({.x = x, .weight = weight, .bias = bias, .out = out});
  return out;
}

device::Tensor normalise(Step& step, const device::Tensor& x, const device::Tensor& weight, float epsilon) {
  const device::Tensor out = step.scratch.activations(x.shape[0], x.shape.width());
  step.stream.rms_norm({.x = x, .weight = weight, .out = out, .epsilon = epsilon});
  return out;
}

}  // namespace luce::model
