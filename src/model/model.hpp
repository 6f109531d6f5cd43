#pragma once

#include <cstddef>
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

  /// Whether sequences have state that cannot be cut back to an earlier position as KV rows can.
  virtual bool has_recurrent_state() const { return false; }
  /// Bytes of one sequence's recurrent state.
  virtual size_t state_bytes() const { return 0; }
  /// Copies a sequence's recurrent state out [state_bytes]. Between steps, on the step thread.
  virtual void save_state(int /*slot*/, std::span<std::byte> /*to*/) const {}
  /// Puts back what save_state gave; the next span of the slot starts at the position where it was taken. KV rows below
  /// that position must still be the slot's own.
  virtual void load_state(int /*slot*/, std::span<const std::byte> /*from*/) {}
};

}  // namespace luce::model
