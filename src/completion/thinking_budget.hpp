#pragma once

#include <memory>
#include <string>
#include <vector>

#include "completion/grammar/token_table.hpp"
#include "sampling/token_constraint.hpp"

namespace luce::completion {

/// Closes the reasoning after a number of tokens by forcing its closing tag; otherwise as the constraint inside, if
/// any.
class ThinkingBudget : public sampling::TokenConstraint {
 public:
  struct Tags {
    std::string open;
    std::string close;
    std::vector<int32_t> close_tokens;  // that write `close`
  };

  /// `inside`: the reply begins in the reasoning; else reasoning is what follows an opening tag at its start.
  ThinkingBudget(Tags tags, int budget_tokens, bool inside, std::shared_ptr<const TokenTable> tokens,
                 std::unique_ptr<sampling::TokenConstraint> constraint);

  bool allows(int32_t token) override { return constraint_ == nullptr || constraint_->allows(token); }
  void mask(std::span<float> logits) override {
    if (constraint_ != nullptr) constraint_->mask(logits);
  }
  std::optional<int32_t> forced() override;
  void accept(int32_t token) override;

 private:
  enum class Phase { opening, reasoning, closing, answer };

  void read(int32_t token);

  Tags tags_;
  int left_;
  std::shared_ptr<const TokenTable> tokens_;
  std::unique_ptr<sampling::TokenConstraint> constraint_;
  Phase phase_;
  size_t closing_ = 0;  // closing tokens that were forced
  std::string tail_;    // the latest text: in the opening all of it, later as much as a tag can have
};

}  // namespace luce::completion
