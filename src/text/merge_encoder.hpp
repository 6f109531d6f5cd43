#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/pair_table.hpp"
#include "text/vocabulary.hpp"

namespace luce::text {

/// Byte-pair encoding by ranked merges, for the kinds byte_level and character. Thread-safe.
class MergeEncoder {
 public:
  /// `vocabulary` must outlive the encoder. Throws invalid_file for a merge without two parts.
  MergeEncoder(const Vocabulary& vocabulary, const std::vector<std::string>& merges, bool whole_words);

  /// Appends the tokens of one piece: raw UTF-8, for the kind character with blanks as U+2581. Takes n log n time.
  void encode(std::string_view piece, std::vector<int32_t>& out) const;

 private:
  static constexpr uint32_t kNoSymbol = 0xFFFFFFFE;
  struct Chain;

  uint32_t symbol_of(std::string_view text);
  void read_merges(const std::vector<std::string>& merges);
  /// The piece as the vocabulary writes it.
  std::string written(std::string_view piece) const;
  void begin_chain(std::string_view piece, Chain& chain) const;
  void merge(Chain& chain) const;
  void append_bytes(std::string_view bytes, std::vector<int32_t>& out) const;
  bool is_whole_word(std::string_view piece) const;
  void encode_part(std::string_view part, Chain& chain, std::vector<int32_t>& out) const;

  const Vocabulary& vocabulary_;
  bool whole_words_;
  bool spans_words_ = false;  // some merge does, so that pieces cannot be cut at marked blanks
  // Symbols below the vocabulary's size are tokens; those above are texts that only merges mention.
  std::unordered_map<std::string, uint32_t> extra_symbols_;
  std::array<uint32_t, 256> symbol_of_byte_{};
  PairTable merges_;
};

}  // namespace luce::text
