#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/expert_service.hpp"

namespace luce::experts {

/// The experts that each running sequence chose in its last two tokens, in one layer. Routings do not name sequences:
/// the n-th decode row of a step is taken to go on with the n-th of the step before, and one that is new with the end
/// of the last prompt. A step in which sequences come or go mixes up a few rows once, which costs accuracy only.
class RowHistory {
 public:
  static constexpr int kTokens = 2;

  /// Experts [top_k] of the token `back` tokens before (1 or 2), empty if unknown.
  std::span<const int32_t> decode(size_t row, int back) const { return at(decode_, row, back); }
  std::span<const int32_t> prompt(int back) const { return at(prompt_, 0, back); }
  size_t decode_rows() const { return decode_.size(); }

  /// The next step has so many decode rows, and rows of a prompt or not.
  void begin_step(size_t decode_rows, bool has_prompt);
  void push_decode(size_t row, std::span<const int32_t> chosen) { push(decode_[row], chosen); }
  void push_prompt(std::span<const int32_t> chosen);
  /// The next prompt row begins another sequence or leaves a gap.
  void break_prompt() { prompt_.clear(); }

 private:
  struct Tokens {
    std::vector<int32_t> last, before;
  };
  static std::span<const int32_t> at(const std::vector<Tokens>& rows, size_t row, int back);
  static void push(Tokens& tokens, std::span<const int32_t> chosen);

  std::vector<Tokens> decode_;
  std::vector<Tokens> prompt_;  // one entry, or none
};

}  // namespace luce::experts
