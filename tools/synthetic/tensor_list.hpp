#pragma once

#include <string>
#include <vector>

#include "gguf/writer.hpp"
#include "synthetic/model_spec.hpp"

namespace luce::synthetic {

/// How the values of a tensor are spread.
struct Distribution {
  enum class Kind { normal, decay_rates, time_steps };
  Kind kind = Kind::normal;
  float mean = 0.0F;
  float sigma = 1.0F;
};

struct PlannedTensor {
  gguf::TensorSpec spec;
  Distribution values;
};

/// All tensors of the model in the order of the file, named as in files of that architecture.
/// A format whose block does not divide a matrix's width gives way to Q8_0, or F16.
std::vector<PlannedTensor> plan_tensors(const ModelSpec& spec);

/// Whether a Q4_K_M-like recipe gives this layer the format with more bits: the first and last eighth and every third.
bool gets_more_bits(uint32_t layer, uint32_t layers);

}  // namespace luce::synthetic
