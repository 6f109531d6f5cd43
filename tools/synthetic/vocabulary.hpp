#pragma once

#include <cstdint>

#include "gguf/metadata_builder.hpp"

namespace luce::synthetic {

/// Adds the keys of a byte-level BPE vocabulary of `size` tokens: all bytes, pairs and words of letters with their
/// merges, unused fillers, the control tokens of ChatML at the end, and a ChatML template. `pre` is qwen2 or qwen35.
void add_vocabulary(gguf::MetadataBuilder& metadata, uint32_t size, const char* pre);

/// Copies the tokenizer keys of another model; fillers make up for tokens that it has less than `size`.
/// Throws usage if it has more.
void copy_vocabulary(gguf::MetadataBuilder& metadata, uint32_t size, const gguf::Metadata& source);

}  // namespace luce::synthetic
