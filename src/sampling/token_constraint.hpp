#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace luce::sampling {

/// Which tokens may come next in one sequence, for example by a grammar. Used from one thread at a time.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;

  /// Whether `token` may come next.
  virtual bool allows(int32_t token) = 0;
  /// Sets the logits [vocabulary] of all tokens that may not come next to -inf.
  virtual void mask(std::span<float> logits) = 0;
  /// The token that comes next whatever the logits say.
  virtual std::optional<int32_t> forced() { return std::nullopt; }
  /// Tells the token that was chosen.
  virtual void accept(int32_t token) = 0;
};

}  // namespace luce::sampling
