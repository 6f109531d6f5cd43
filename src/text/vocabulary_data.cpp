#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "text/vocabulary.hpp"

namespace luce::text {
namespace {

struct KindName {
  std::string_view name;
  VocabularyKind kind;
};

constexpr std::array<KindName, 3> kKinds = {{
    {"gpt2", VocabularyKind::byte_level},
    {"llama", VocabularyKind::sentence_piece},
    {"gemma4", VocabularyKind::character},
}};

VocabularyKind read_kind(const gguf::Metadata& metadata) {
  const std::string_view name = metadata.get_string("tokenizer.ggml.model");
  for (const KindName& known : kKinds) {
    if (known.name == name) return known.kind;
  }
  fail(ErrorKind::unsupported,
       "tokenizer.ggml.model: the vocabulary kind '{}' is not offered; known are gpt2, llama, gemma4", name);
}

// Writers mark an absent token with -1, as a signed number or as all ones.
int32_t read_id(const gguf::Metadata& metadata, std::string_view key) {
  const auto id = metadata.find_i64(key);
  if (!id || *id == -1 || *id == 0xFFFFFFFFll) return kNoToken;
  if (*id < 0 || *id > 0x7FFFFFFFll) fail(ErrorKind::invalid_file, "{}: expected a token id, found {}", key, *id);
  return static_cast<int32_t>(*id);
}

std::vector<std::string> to_strings(const std::vector<std::string_view>& views) {
  return std::vector<std::string>(views.begin(), views.end());
}

}  // namespace

VocabularyData VocabularyData::from_metadata(const gguf::Metadata& metadata) {
  VocabularyData data;
  data.kind = read_kind(metadata);
  data.tokens = to_strings(metadata.get_strings("tokenizer.ggml.tokens"));
  if (data.kind != VocabularyKind::sentence_piece)
    data.merges = to_strings(metadata.get_strings("tokenizer.ggml.merges"));
  data.scores = metadata.find_f32s("tokenizer.ggml.scores").value_or(std::vector<float>{});
  data.types = metadata.find_i32s("tokenizer.ggml.token_type").value_or(std::vector<int32_t>{});
  data.pre_tokenizer = metadata.find_string("tokenizer.ggml.pre").value_or("");
  data.bos = read_id(metadata, "tokenizer.ggml.bos_token_id");
  data.eos = read_id(metadata, "tokenizer.ggml.eos_token_id");
  data.eot = read_id(metadata, "tokenizer.ggml.eot_token_id");
  data.eom = read_id(metadata, "tokenizer.ggml.eom_token_id");
  data.unknown = read_id(metadata, "tokenizer.ggml.unknown_token_id");
  data.padding = read_id(metadata, "tokenizer.ggml.padding_token_id");
  data.add_bos = metadata.find_bool("tokenizer.ggml.add_bos_token");
  data.add_space_prefix = metadata.find_bool("tokenizer.ggml.add_space_prefix");
  data.chat_template = metadata.find_string("tokenizer.chat_template").value_or("");
  return data;
}

}  // namespace luce::text
