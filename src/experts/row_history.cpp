#include "experts/row_history.hpp"

namespace luce::experts {

std::span<const int32_t> RowHistory::at(const std::vector<Tokens>& rows, size_t row, int back) {
  if (row >= rows.size()) return {};
  return back == 1 ? rows[row].last : rows[row].before;
}

void RowHistory::begin_step(size_t decode_rows, bool has_prompt) {
  const bool prompt_goes_on = decode_rows > decode_.size() && !prompt_.empty();
  if (prompt_goes_on) decode_.push_back(std::move(prompt_.front()));
  if (prompt_goes_on || !has_prompt) prompt_.clear();
  decode_.resize(decode_rows);
}

void RowHistory::push(Tokens& tokens, std::span<const int32_t> chosen) {
  std::swap(tokens.before, tokens.last);
  tokens.last.assign(chosen.begin(), chosen.end());
}

void RowHistory::push_prompt(std::span<const int32_t> chosen) {
  prompt_.resize(1);
  push(prompt_.front(), chosen);
}

}  // namespace luce::experts
