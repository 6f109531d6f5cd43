#include "completion/thinking_budget.hpp"

#include <algorithm>
#include <utility>

#include "completion/reply/incoming.hpp"

namespace luce::completion {

ThinkingBudget::ThinkingBudget(Tags tags, int budget_tokens, bool inside, std::shared_ptr<const TokenTable> tokens,
                               std::unique_ptr<sampling::TokenConstraint> constraint)
    : tags_(std::move(tags)),
      left_(std::max(0, budget_tokens)),
      tokens_(std::move(tokens)),
      constraint_(std::move(constraint)),
      phase_(inside ? Phase::reasoning : Phase::opening) {}

std::optional<int32_t> ThinkingBudget::forced() {
  if (phase_ == Phase::reasoning && left_ == 0) phase_ = Phase::closing;
  if (phase_ == Phase::closing) return tags_.close_tokens[closing_];
  return constraint_ == nullptr ? std::nullopt : constraint_->forced();
}

void ThinkingBudget::accept(int32_t token) {
  if (constraint_ != nullptr) constraint_->accept(token);
  if (phase_ == Phase::closing) {
    if (++closing_ == tags_.close_tokens.size()) phase_ = Phase::answer;
  } else if (phase_ != Phase::answer) {
    read(token);
  }
}

void ThinkingBudget::read(int32_t token) {
  if (phase_ == Phase::reasoning) --left_;
  tail_ += tokens_->bytes(token);
  if (phase_ == Phase::opening) {
    const auto first = std::find_if_not(tail_.begin(), tail_.end(), is_space);
    const std::string text(first, tail_.end());
    if (text.starts_with(tags_.open)) {
      phase_ = Phase::reasoning;
      tail_ = text.substr(tags_.open.size());
    } else if (!std::string_view(tags_.open).starts_with(text)) {
      phase_ = Phase::answer;
    }
  }
  if (phase_ != Phase::reasoning) return;
  if (tail_.find(tags_.close) != std::string::npos) phase_ = Phase::answer;
  if (tail_.size() > tags_.close.size()) tail_.erase(0, tail_.size() - tags_.close.size());
}

}  // namespace luce::completion
