#pragma once

#include "model/network.hpp"

namespace luce::model {

/// The weights around the layers.
struct Frame {
  device::Tensor embedding;    // [vocabulary, width]
  device::Tensor output_norm;  // [width]
  device::Tensor output;       // [vocabulary, width]; the embedding where the file ties them
  bool tied = false;
};

Frame read_frame(const Hyperparameters& h, WeightReader& weights);

/// What one step takes in; lies in scratch.
struct StepInputs {
  device::Tensor ids, slots, positions;  // [rows] i32
  device::Tensor spans;                  // [sequences, 4] i32
  device::Tensor logit_rows;             // [logit_rows] i32
};

StepInputs take_inputs(Scratch& scratch, const StepLimits& sizes);

/// Embedding, layers, output head. Returns [logit_rows, vocabulary], or an empty tensor where no logits are wanted.
device::Tensor run_layers(Step& step, const Hyperparameters& h, const Frame& frame, const Network& network,
                          const StepInputs& inputs);

/// Scratch bytes of a step of these sizes, found by leading the network through a step that runs nothing.
int64_t measure_scratch(const Hyperparameters& h, const Frame& frame, const Network& network, const StepLimits& sizes);

}  // namespace luce::model
