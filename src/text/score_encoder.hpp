#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary.hpp"

namespace luce::text {

/// SentencePiece's byte-pair encoding: of all neighbours that form a token, those with the best score merge first.
class ScoreEncoder {
 public:
  /// `vocabulary` must outlive the encoder.
  explicit ScoreEncoder(const Vocabulary& vocabulary);

  /// Appends the tokens of a valid text with blanks as U+2581. Takes n log n time.
  void encode(std::string_view text, std::vector<int32_t>& out) const;

 private:
  struct Chain;

  void begin_chain(std::string_view text, Chain& chain) const;
  void encode_part(std::string_view text, Chain& chain, std::vector<int32_t>& out) const;
  void offer(Chain& chain, int32_t left) const;
  void append(std::string_view text, std::vector<int32_t>& out) const;

  const Vocabulary& vocabulary_;
  size_t longest_bytes_ = 0;  // of all ordinary tokens
  bool spans_words_ = false;  // some token does, so that texts cannot be cut at blanks
};

}  // namespace luce::text
