#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "text/rendered_prompt.hpp"
#include "text/vocabulary.hpp"

namespace luce::text {

/// How control-token text in an input is read.
enum class Special : uint8_t {
  plain,  // it is ordinary text
  parse,  // it becomes the control token
};

/// Text to token ids, exactly as the model's own tokenizer gives them. Immutable and thread-safe.
class Tokenizer {
 public:
  /// Throws invalid_file for a broken vocabulary, unsupported for a kind or pre-tokenizer that is not offered.
  explicit Tokenizer(VocabularyData data);
  explicit Tokenizer(const gguf::Metadata& metadata) : Tokenizer(VocabularyData::from_metadata(metadata)) {}
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  const Vocabulary& vocabulary() const;
  /// True if the model expects its begin token before every text.
  bool adds_bos() const;

  /// Invalid UTF-8 is read as U+FFFD. `add_bos` puts the begin token in front, if the vocabulary has one.
  std::vector<int32_t> encode(std::string_view text, Special special, bool add_bos = false) const;
  /// Control tokens are recognised outside of the plain spans only, while words are formed across their borders. The
  /// begin token is put in front if the model expects it and the template has not done so.
  std::vector<int32_t> encode(const RenderedPrompt& prompt) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace luce::text
