#pragma once

#include <span>
#include <string_view>

namespace luce::text {

/// How a model family prepares text before merging: facts of its tokenizer, named as in `tokenizer.ggml.pre`.
struct PreTokenizerRow {
  std::string_view name;
  std::span<const std::string_view> patterns;  // applied in turn; each match and each gap becomes a piece
  bool normalize_nfc = false;                  // the tokenizer composes characters first
  bool whole_words = false;                    // a piece that is a token is taken as it is, whatever the merges say
  bool add_bos = false;                        // where the file does not say
};

/// Null if the name is unknown. The empty name means "default".
const PreTokenizerRow* find_pre_tokenizer(std::string_view name);
std::span<const PreTokenizerRow> all_pre_tokenizers();

}  // namespace luce::text
