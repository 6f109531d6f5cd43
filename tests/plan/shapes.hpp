#pragma once

#include "plan/model_shape.hpp"

namespace luce::plan {

/// A hybrid MoE model in which every fourth layer attends, as qwen35moe; slot sizes alternate between two classes.
inline ModelShape hybrid_shape(int layers, int experts, int top_k) {
  ModelShape shape;
  shape.architecture = "qwen35moe";
  shape.name = "hybrid";
  shape.vocabulary = 1000;
  shape.hidden = 64;
  shape.top_k = top_k;
  shape.embedding_bytes = 64'000;
  shape.output_bytes = 128'000;
  shape.scratch_row_bytes = 2'000;
  shape.scratch_output_bytes = 4'000;
  shape.scratch_fixed_bytes = 10'000;
  for (int i = 0; i < layers; ++i) {
    const bool attends = i % 4 == 3;
    LayerShape layer;
    layer.dense_bytes = 50'000;
    layer.k_width = attends ? 64 : 0;
    layer.v_width = attends ? 32 : 0;
    layer.recurrent_bytes = attends ? 0 : 3'000;
    layer.experts = experts;
    layer.expert_bytes = i % 2 == 0 ? 1'920 : 2'304;
    shape.layers.push_back(layer);
  }
  return shape;
}

}  // namespace luce::plan
