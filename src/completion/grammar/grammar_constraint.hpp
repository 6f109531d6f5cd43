#pragma once

#include <memory>
#include <vector>

#include "completion/grammar/machine.hpp"
#include "completion/grammar/token_table.hpp"
#include "sampling/token_constraint.hpp"

namespace luce::completion {

/// Lets only tokens through that go on with a text of a grammar, and end tokens only where the text may end.
class GrammarConstraint : public sampling::TokenConstraint {
 public:
  GrammarConstraint(std::shared_ptr<const GrammarProgram> program, std::shared_ptr<const TokenTable> tokens,
                    std::vector<int32_t> end_tokens);

  bool allows(int32_t token) override;
  void mask(std::span<float> logits) override;
  void accept(int32_t token) override;

 private:
  bool is_end(int32_t token) const;
  const std::vector<bool>& allowed();
  void find_allowed(std::vector<bool>& allowed);

  GrammarMachine machine_;
  std::shared_ptr<const TokenTable> tokens_;
  std::vector<int32_t> end_tokens_;
  int state_;
  std::vector<bool> allowed_;  // by token, of the state and generation below
  int allowed_state_ = -1;
  int allowed_generation_ = -1;
};

}  // namespace luce::completion
