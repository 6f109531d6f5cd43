#pragma once

#include <cstdint>
#include <string>

#include "gguf/file.hpp"

namespace luce::model {

/// Numbers of a model as its file gives them, all range-checked. Fields that an architecture lacks are zero.
struct Hyperparameters {
  std::string architecture;
  std::string name;
  int layers = 0;  // without multi-token prediction blocks
  int trained_context = 0;
  int64_t vocabulary = 0;
  int64_t width = 0;
  float norm_epsilon = 0;

  int heads = 0;
  int kv_heads = 0;
  int64_t key_width = 0;    // of one head
  int64_t value_width = 0;  // of one head
  int rotary_dimensions = 0;
  float rotary_base = 0;
  float rotary_scale = 1;  // multiplies positions
  int full_attention_interval = 0;

  int64_t feed_forward = 0;
  int experts = 0;
  int experts_used = 0;
  int64_t expert_feed_forward = 0;
  int64_t shared_feed_forward = 0;

  int convolution_taps = 0;
  int64_t recurrent_width = 0;  // all value heads together
  int recurrent_key_heads = 0;
  int64_t recurrent_key_width = 0;  // of one head
  int recurrent_value_heads = 0;
};

/// Throws Error{invalid_file} naming the key at fault, Error{unsupported} for position scalings we do not compute.
Hyperparameters read_hyperparameters(const gguf::File& file);

}  // namespace luce::model
