#include "synthetic/vocabulary.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace luce::synthetic {
namespace {

constexpr int32_t kNormalToken = 1;
constexpr int32_t kControlToken = 3;
constexpr int32_t kUserDefinedToken = 4;
constexpr int32_t kUnusedToken = 5;
constexpr uint32_t kMostMerges = 150000;

constexpr std::array<std::string_view, 3> kControls = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
constexpr std::array<std::string_view, 6> kMarkers = {"<tool_call>",      "</tool_call>", "<tool_response>",
                                                      "</tool_response>", "<think>",      "</think>"};

constexpr std::string_view kTemplate =
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}";

struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<int32_t> types;
  std::vector<std::string> merges;

  void add(std::string token, int32_t type) {
    tokens.push_back(std::move(token));
    types.push_back(type);
  }
  /// A token that is made of two others.
  void merge(const std::string& left, const std::string& right) {
    merges.push_back(left + " " + right);
    add(left + right, kNormalToken);
  }
  void fill_to(size_t size) {
    while (tokens.size() < size) add("[UNUSED" + std::to_string(tokens.size()) + "]", kUnusedToken);
  }
};

bool is_shown_as_itself(int byte) { return (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173); }

std::string utf8(int code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xc0 | (code >> 6)), static_cast<char>(0x80 | (code & 63))};
}

/// The printable letters that byte-level BPE writes for the 256 bytes: bytes without a glyph follow from U+0100.
std::vector<std::string> byte_letters() {
  std::vector<std::string> letters;
  for (int byte = 0; byte < 256; ++byte) {
    if (is_shown_as_itself(byte)) letters.push_back(utf8(byte));
  }
  for (int code = 256; letters.size() < 256; ++code) letters.push_back(utf8(code));
  return letters;
}

/// Adds merges until `most` of them: space and letter, two letters, space and pair, pair and pair.
void add_merges(Vocabulary& vocabulary, uint32_t most) {
  const std::string space = utf8(256 + 32);
  std::vector<std::string> letters;
  for (char letter = 'a'; letter <= 'z'; ++letter) letters.emplace_back(1, letter);
  std::vector<std::string> pairs;
  const auto add = [&](const std::string& left, const std::string& right) {
    if (vocabulary.merges.size() < most) vocabulary.merge(left, right);
  };
  for (const std::string& letter : letters) add(space, letter);
  for (const std::string& first : letters) {
    for (const std::string& second : letters) {
      pairs.push_back(first + second);
      add(first, second);
    }
  }
  for (const std::string& pair : pairs) add(space, pair);
  for (const std::string& first : pairs) {
    for (const std::string& second : pairs) add(first, second);
  }
}

void store(gguf::MetadataBuilder& metadata, const Vocabulary& vocabulary) {
  metadata.set_strings("tokenizer.ggml.tokens", vocabulary.tokens);
  metadata.set_i32s("tokenizer.ggml.token_type", vocabulary.types);
}

}  // namespace

void add_vocabulary(gguf::MetadataBuilder& metadata, uint32_t size, const char* pre) {
  Vocabulary vocabulary;
  for (const std::string& letter : byte_letters()) vocabulary.add(letter, kNormalToken);
  const size_t specials = kControls.size() + kMarkers.size();
  add_merges(vocabulary, std::min<uint32_t>(kMostMerges, size - static_cast<uint32_t>(256 + specials)));
  vocabulary.fill_to(size - specials);
  for (const std::string_view token : kControls) vocabulary.add(std::string(token), kControlToken);
  for (const std::string_view token : kMarkers) vocabulary.add(std::string(token), kUserDefinedToken);

  const auto first_special = static_cast<uint32_t>(size - specials);
  metadata.set_string("tokenizer.ggml.model", "gpt2");
  metadata.set_string("tokenizer.ggml.pre", pre);
  store(metadata, vocabulary);
  metadata.set_strings("tokenizer.ggml.merges", vocabulary.merges);
  metadata.set_u32("tokenizer.ggml.eos_token_id", first_special + 2);
  metadata.set_u32("tokenizer.ggml.padding_token_id", first_special);
  metadata.set_bool("tokenizer.ggml.add_bos_token", false);
  metadata.set_string("tokenizer.chat_template", kTemplate);
}

void copy_vocabulary(gguf::MetadataBuilder& metadata, uint32_t size, const gguf::Metadata& source) {
  Vocabulary vocabulary;
  for (const std::string_view token : source.get_strings("tokenizer.ggml.tokens"))
    vocabulary.tokens.emplace_back(token);
  vocabulary.types = source.find_i32s("tokenizer.ggml.token_type").value_or(std::vector<int32_t>{});
  vocabulary.types.resize(vocabulary.tokens.size(), kNormalToken);
  if (vocabulary.tokens.size() > size) {
    fail(ErrorKind::usage, "the tokenizer to copy has {} tokens, --vocab must be at least that",
         vocabulary.tokens.size());
  }
  vocabulary.fill_to(size);
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.key(i).starts_with("tokenizer.")) metadata.set(source.key(i), source.value(i));
  }
  store(metadata, vocabulary);
  if (!metadata.contains("tokenizer.chat_template")) metadata.set_string("tokenizer.chat_template", kTemplate);
}

}  // namespace luce::synthetic
