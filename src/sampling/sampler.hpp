#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "sampling/distribution.hpp"
#include "sampling/random.hpp"
#include "sampling/settings.hpp"
#include "sampling/token_constraint.hpp"
#include "sampling/token_history.hpp"

namespace luce::sampling {

struct TokenLogprob {
  int32_t token = 0;
  // Natural logarithm, of the model's own distribution: before penalties, bias, cuts and temperature; at least -9999.
  float logprob = 0;
};

struct Sample {
  int32_t token = 0;
  float logprob = 0;                   // 0 unless SamplingSettings::logprobs
  std::vector<TokenLogprob> top = {};  // [top_logprobs], falling
};

enum class SampleError {
  not_finite,       // the logits hold NaN or infinity
  nothing_allowed,  // bias and constraint leave no token
};

using SampleResult = std::variant<Sample, SampleError>;

/// Turns the logits of one sequence into its tokens.
class Sampler {
 public:
  Sampler(SamplingSettings settings, std::span<const int32_t> prompt);

  /// Chooses the next token from logits [vocabulary], which stay as they are. The chosen token does not count until
  /// accept(). `constraint` may be null.
  SampleResult sample(std::span<const float> logits, TokenConstraint* constraint);

  /// Counts a generated token for the penalties.
  void accept(int32_t token);

 private:
  std::variant<int32_t, SampleError> choose(std::span<const float> logits, TokenConstraint* constraint);
  std::variant<int32_t, SampleError> pick(std::span<const float> logits);

  SamplingSettings settings_;
  TokenHistory history_;
  Random random_;
  Distribution distribution_;
  std::vector<float> adjusted_;  // [vocabulary], scratch
};

}  // namespace luce::sampling
