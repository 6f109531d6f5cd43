#include "model/frame.hpp"

#include "model/null_stream.hpp"

namespace luce::model {
namespace {

using device::Tensor;

Tensor index_vector(Scratch& scratch, int64_t count) {
  const Tensor column = scratch.indices(count, 1);
  return device::make_tensor(tensor::Format::i32, {count}, column.address);
}

}  // namespace

Frame read_frame(const Hyperparameters& h, WeightReader& weights) {
  Frame frame;
  frame.embedding = weights.matrix("token_embd.weight", h.vocabulary, h.width);
  frame.output_norm = weights.values("output_norm.weight", {h.width});
  frame.tied = !weights.has("output.weight");
  frame.output = frame.tied ? frame.embedding : weights.matrix("output.weight", h.vocabulary, h.width);
  return frame;
}

StepInputs take_inputs(Scratch& scratch, const StepLimits& sizes) {
  return {.ids = index_vector(scratch, sizes.rows),
          .slots = index_vector(scratch, sizes.rows),
          .positions = index_vector(scratch, sizes.rows),
          .spans = scratch.indices(sizes.sequences, 4),
          .logit_rows = index_vector(scratch, sizes.logit_rows)};
}

Tensor run_layers(Step& step, const Hyperparameters& h, const Frame& frame, const Network& network,
                  const StepInputs& inputs) {
  step.slots = inputs.slots;
  step.positions = inputs.positions;
  step.spans = inputs.spans;
  step.x = step.scratch.activations(step.rows, h.width);  // [rows, width]
  step.stream.embed_rows({.table = frame.embedding, .ids = inputs.ids, .out = step.x});
  for (int index = 0; index < h.layers; ++index) network.layer(step, index);
  const int64_t wanted = inputs.logit_rows.shape[0];
  if (wanted == 0) return {};
  const Tensor last = step.scratch.activations(wanted, h.width);  // [logit_rows, width]
  step.stream.gather_rows({.x = step.x, .indices = inputs.logit_rows, .out = last});
  step.stream.rms_norm({.x = last, .weight = frame.output_norm, .out = last, .epsilon = h.norm_epsilon});
  return project(step, last, frame.output);
}

int64_t measure_scratch(const Hyperparameters& h, const Frame& frame, const Network& network, const StepLimits& sizes) {
  NullStream stream;
  Scratch scratch = Scratch::measuring();
  const SequenceMemory memory = SequenceMemory::measuring(network.memory(), sizes, tensor::Format::f32);
  Step step{.stream = stream, .scratch = scratch, .memory = memory, .rows = sizes.rows};
  const StepInputs inputs = take_inputs(scratch, sizes);
  run_layers(step, h, frame, network, inputs);
  return scratch.peak_bytes();
}

}  // namespace luce::model
