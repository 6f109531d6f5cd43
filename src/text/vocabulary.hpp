#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gguf/metadata.hpp"

namespace luce::text {

/// How text becomes tokens; `tokenizer.ggml.model` of the file in brackets.
enum class VocabularyKind : uint8_t {
  byte_level,      // merges over bytes written in the byte alphabet ("gpt2")
  sentence_piece,  // scores, blanks as U+2581, bytes as fallback ("llama")
  character,       // merges over characters, blanks as U+2581, bytes as fallback ("gemma4")
};

/// The numbers are those of the GGUF format.
enum class TokenType : uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

constexpr int32_t kNoToken = -1;

/// A vocabulary as the file gives it, checked by the constructor of Vocabulary.
struct VocabularyData {
  VocabularyKind kind = VocabularyKind::byte_level;
  std::string pre_tokenizer;        // `tokenizer.ggml.pre`
  std::vector<std::string> tokens;  // text by id
  std::vector<float> scores;        // empty, or one a token
  std::vector<int32_t> types;       // empty, or one a token
  std::vector<std::string> merges;  // "left right", best first
  int32_t bos = kNoToken;
  int32_t eos = kNoToken;
  int32_t eot = kNoToken;  // end of turn
  int32_t eom = kNoToken;  // end of message
  int32_t unknown = kNoToken;
  int32_t padding = kNoToken;
  std::optional<bool> add_bos;
  std::optional<bool> add_space_prefix;
  std::string chat_template;

  /// Throws invalid_file for missing or ill-typed keys and unsupported for a kind that is not offered.
  static VocabularyData from_metadata(const gguf::Metadata& metadata);
};

/// The tokens of a model: texts, types and the ids with a meaning. Immutable and thread-safe.
class Vocabulary {
 public:
  /// Throws invalid_file, naming the token, if sizes disagree, an id is out of range or a byte token is malformed.
  explicit Vocabulary(VocabularyData data);
  Vocabulary(Vocabulary&&) noexcept = default;
  Vocabulary& operator=(Vocabulary&&) noexcept = default;

  VocabularyKind kind() const { return data_.kind; }
  const std::string& pre_tokenizer() const { return data_.pre_tokenizer; }
  const std::string& chat_template() const { return data_.chat_template; }
  /// The merges, which the encoder keeps in its own form.
  std::vector<std::string> release_merges() { return std::move(data_.merges); }
  std::optional<bool> add_bos() const { return data_.add_bos; }
  bool add_space_prefix() const;

  int32_t size() const { return static_cast<int32_t>(data_.tokens.size()); }
  bool contains(int32_t id) const { return id >= 0 && id < size(); }
  /// The text as the file has it: byte-level tokens in the byte alphabet, blanks as U+2581. The id must be contained.
  const std::string& text(int32_t id) const { return data_.tokens[static_cast<size_t>(id)]; }
  TokenType type(int32_t id) const { return types_[static_cast<size_t>(id)]; }
  float score(int32_t id) const { return data_.scores.empty() ? 0.0f : data_.scores[static_cast<size_t>(id)]; }
  /// The first token with that text.
  std::optional<int32_t> find(std::string_view text) const;
  /// As find, but only tokens that plain text may become.
  std::optional<int32_t> find_normal(std::string_view text) const;
  /// The token of a raw byte in kinds with byte fallback, else kNoToken.
  int32_t byte_token(unsigned char byte) const { return byte_tokens_[byte]; }
  /// The byte of a byte token, which `id` must be.
  unsigned char byte_value(int32_t id) const;

  int32_t bos() const { return data_.bos; }
  int32_t eos() const { return data_.eos; }
  int32_t unknown() const { return data_.unknown; }
  int32_t padding() const { return data_.padding; }
  /// True if a reply ends with this token.
  bool is_end(int32_t id) const { return contains(id) && ends_[static_cast<size_t>(id)]; }
  /// All tokens that end a reply, in order.
  const std::vector<int32_t>& end_tokens() const { return end_tokens_; }
  /// The bytes that a token adds to a text: raw bytes, real blanks; control tokens give their text.
  std::string bytes(int32_t id) const;

 private:
  void check_sizes() const;
  void check_ids();
  void read_types();
  void index_texts();
  void index_bytes();
  void collect_ends();

  VocabularyData data_;
  std::vector<TokenType> types_;
  std::unordered_map<std::string_view, int32_t> id_of_text_;  // views into data_.tokens
  std::vector<int32_t> byte_tokens_;                          // 256
  std::vector<bool> ends_;
  std::vector<int32_t> end_tokens_;
};

}  // namespace luce::text
