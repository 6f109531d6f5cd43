#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "model/batch.hpp"

namespace luce::model {

/// Sizes fixed when a model is loaded.
struct StepLimits {
  int context_tokens = 0;  // of one sequence
  int sequences = 0;       // sequence slots
  int rows = 0;            // of one step
  int logit_rows = 0;      // of one step
};

/// A loaded model with its KV cache and recurrent states. One step at a time, from one thread.
class Model {
 public:
  virtual ~Model() = default;

  virtual const std::string& architecture() const = 0;
  virtual const StepLimits& limits() const = 0;
  virtual int vocabulary_size() const = 0;
  virtual int moe_layers() const = 0;

  /// Runs one step; returns logits [logit_rows, vocabulary] that stay valid until the next call.
  /// Throws Error{io | device}; sequences of the batch must then be started anew.
  virtual std::span<const float> forward(const Batch& batch) = 0;
};

}  // namespace luce::model
