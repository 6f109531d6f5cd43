#include "completion/grammar/token_table.hpp"

#include <algorithm>

namespace luce::completion {

TokenTable::TokenTable(const text::Vocabulary& vocabulary, const std::unordered_set<int32_t>& used_control_tokens)
    : places_(static_cast<size_t>(vocabulary.size()), -1) {
  for (int32_t token = 0; token < vocabulary.size(); ++token) {
    const text::TokenType type = vocabulary.type(token);
    const bool is_text =
        type == text::TokenType::normal || type == text::TokenType::user_defined || type == text::TokenType::byte;
    if (!is_text && !used_control_tokens.contains(token)) continue;
    if (std::string bytes = vocabulary.bytes(token); !bytes.empty())
      entries_.push_back({.bytes = std::move(bytes), .token = token});
  }
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.bytes != b.bytes ? a.bytes < b.bytes : a.token < b.token; });
  for (size_t i = 0; i < entries_.size(); ++i) {
    places_[entries_[i].token] = static_cast<int32_t>(i);
    if (i == 0) continue;
    const std::string &previous = entries_[i - 1].bytes, &own = entries_[i].bytes;
    const auto parted = std::mismatch(own.begin(), own.end(), previous.begin(), previous.end());
    entries_[i].shared = static_cast<size_t>(parted.first - own.begin());
  }
}

const std::string& TokenTable::bytes(int32_t token) const {
  static const std::string none;
  if (token < 0 || static_cast<size_t>(token) >= places_.size() || places_[token] < 0) return none;
  return entries_[places_[token]].bytes;
}

}  // namespace luce::completion
