#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampling/settings.hpp"

namespace luce::sampling {

struct Candidate {
  int32_t token = 0;
  float logit = 0;
  double probability = 0;
};

/// The tokens that top_k, top_p, min_p and the temperature leave. Keeps its memory from call to call, and of a large
/// vocabulary it sorts no more than it must.
class Distribution {
 public:
  /// Tokens of logits [vocabulary] with probabilities that sum to 1, valid until the next call. Never empty where a
  /// logit is finite (-inf marks banned tokens). Tokens far below a float's precision are left out.
  std::span<const Candidate> compute(std::span<const float> logits, const SamplingSettings& settings);

 private:
  void gather(std::span<const float> logits, const SamplingSettings& settings);
  void gather_top_k(std::span<const float> logits, size_t top_k);
  void gather_mass(std::span<const float> logits, double top_p);
  void gather_above(std::span<const float> logits, double lowest);
  void keep_top_p(double top_p);
  void keep_min_p(double min_p);
  void set_probabilities(double temperature);
  double largest() const;

  std::vector<Candidate> candidates_;
  double mass_ = 0;  // sum of exp(logit - largest) of all that top_p counts, not only of the candidates
};

}  // namespace luce::sampling
