#include "completion/grammar/grammar_constraint.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace luce::completion {

GrammarConstraint::GrammarConstraint(std::shared_ptr<const GrammarProgram> program,
                                     std::shared_ptr<const TokenTable> tokens, std::vector<int32_t> end_tokens)
    : machine_(std::move(program)),
      tokens_(std::move(tokens)),
      end_tokens_(std::move(end_tokens)),
      state_(machine_.start()) {}

bool GrammarConstraint::is_end(int32_t token) const {
  return std::find(end_tokens_.begin(), end_tokens_.end(), token) != end_tokens_.end();
}

bool GrammarConstraint::allows(int32_t token) {
  if (state_ == GrammarMachine::kDead) return false;
  if (is_end(token)) return machine_.accepts(state_);
  const std::string& bytes = tokens_->bytes(token);
  return !bytes.empty() && machine_.after(state_, bytes) != GrammarMachine::kDead;
}

void GrammarConstraint::accept(int32_t token) {
  if (state_ == GrammarMachine::kDead || is_end(token)) return;
  state_ = machine_.trim(machine_.after(state_, tokens_->bytes(token)));
}

// Walks the sorted texts with the states of all beginnings of the current one; a beginning that is not allowed rules
// out all that share it.
void GrammarConstraint::find_allowed(std::vector<bool>& allowed) {
  std::vector<int> states = {state_};
  size_t dead_from = std::numeric_limits<size_t>::max();
  for (const TokenTable::Entry& entry : tokens_->entries()) {
    if (entry.shared >= dead_from) continue;
    dead_from = std::numeric_limits<size_t>::max();
    states.resize(entry.shared + 1);
    for (size_t at = entry.shared; at < entry.bytes.size(); ++at) {
      const int next = machine_.next(states.back(), static_cast<uint8_t>(entry.bytes[at]));
      if (next == GrammarMachine::kDead) {
        dead_from = at + 1;
        break;
      }
      states.push_back(next);
    }
    allowed[entry.token] = states.size() == entry.bytes.size() + 1;
  }
}

const std::vector<bool>& GrammarConstraint::allowed() {
  if (allowed_state_ == state_ && allowed_generation_ == machine_.generation()) return allowed_;
  allowed_.assign(tokens_->vocabulary_size(), false);
  if (state_ != GrammarMachine::kDead) {
    find_allowed(allowed_);
    for (const int32_t token : end_tokens_)
      if (token >= 0 && static_cast<size_t>(token) < allowed_.size()) allowed_[token] = machine_.accepts(state_);
  }
  allowed_state_ = state_;
  allowed_generation_ = machine_.generation();
  return allowed_;
}

void GrammarConstraint::mask(std::span<float> logits) {
  const std::vector<bool>& may_follow = allowed();
  for (size_t token = 0; token < logits.size(); ++token)
    if (token >= may_follow.size() || !may_follow[token]) logits[token] = -std::numeric_limits<float>::infinity();
}

}  // namespace luce::completion
