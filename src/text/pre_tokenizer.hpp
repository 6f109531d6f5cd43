#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/pre_tokenizer_table.hpp"

namespace luce::text {

/// Cuts a text into the pieces between which no merge happens. Thread-safe; time linear in the text.
class PreTokenizer {
 public:
  explicit PreTokenizer(const PreTokenizerRow& row);
  ~PreTokenizer();
  PreTokenizer(PreTokenizer&&) noexcept;
  PreTokenizer& operator=(PreTokenizer&&) noexcept;

  const PreTokenizerRow& row() const { return *row_; }
  /// Ends of the pieces of a valid text, ascending; the last one is its size. Empty for an empty text.
  std::vector<size_t> split(std::string_view text) const;

 private:
  class Pattern;
  const PreTokenizerRow* row_;
  std::vector<Pattern> patterns_;
};

/// A pattern of the table in PCRE2's syntax: `\s` and `\S` spelled out as Unicode's White_Space, which PCRE2's own
/// differ from.
std::string spell_out_blanks(std::string_view pattern);

}  // namespace luce::text
