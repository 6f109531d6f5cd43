#include "text/vocabulary.hpp"

#include <cmath>

#include "base/error.hpp"
#include "text/blanks.hpp"
#include "text/byte_alphabet.hpp"
#include "text/end_tokens.hpp"
#include "text/utf8.hpp"

namespace luce::text {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// "<0x41>" is the byte 0x41.
std::optional<unsigned char> parse_byte_token(std::string_view text) {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>') return std::nullopt;
  const int high = hex_digit(text[3]);
  const int low = hex_digit(text[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high * 16 + low);
}

}  // namespace

Vocabulary::Vocabulary(VocabularyData data) : data_(std::move(data)) {
  check_sizes();
  read_types();
  check_ids();
  index_texts();
  index_bytes();
  collect_ends();
}

void Vocabulary::check_sizes() const {
  const size_t count = data_.tokens.size();
  if (count == 0 || count > (1u << 24)) {
    fail(ErrorKind::invalid_file, "tokenizer.ggml.tokens: expected 1 to 16777216 tokens, found {}", count);
  }
  if (!data_.types.empty() && data_.types.size() != count) {
    fail(ErrorKind::invalid_file, "tokenizer.ggml.token_type: expected {} types, one a token, found {}", count,
         data_.types.size());
  }
  const bool needs_scores = data_.kind == VocabularyKind::sentence_piece;
  if (data_.scores.size() != count && (needs_scores || !data_.scores.empty())) {
    fail(ErrorKind::invalid_file, "tokenizer.ggml.scores: expected {} scores, one a token, found {}", count,
         data_.scores.size());
  }
  for (size_t id = 0; id < data_.scores.size(); ++id) {
    if (std::isnan(data_.scores[id])) {
      fail(ErrorKind::invalid_file, "tokenizer.ggml.scores: the score of token {} is not a number", id);
    }
  }
}

void Vocabulary::read_types() {
  types_.assign(data_.tokens.size(), TokenType::normal);
  for (size_t id = 0; id < data_.types.size(); ++id) {
    const int32_t type = data_.types[id];
    if (type < 0 || type > 6) {
      fail(ErrorKind::invalid_file, "tokenizer.ggml.token_type: expected 1 to 6 for token {}, found {}", id, type);
    }
    // 0 is "undefined" in the format; writers use it for ordinary tokens.
    types_[id] = type == 0 ? TokenType::normal : static_cast<TokenType>(type);
  }
  data_.types.clear();
  data_.types.shrink_to_fit();
}

void Vocabulary::check_ids() {
  const auto check = [this](int32_t id, const char* key) {
    if (id != kNoToken && !contains(id)) {
      fail(ErrorKind::invalid_file, "tokenizer.ggml.{}: expected an id below {}, found {}", key, size(), id);
    }
  };
  check(data_.bos, "bos_token_id");
  check(data_.eos, "eos_token_id");
  check(data_.eot, "eot_token_id");
  check(data_.eom, "eom_token_id");
  check(data_.unknown, "unknown_token_id");
  check(data_.padding, "padding_token_id");
}

void Vocabulary::index_texts() {
  id_of_text_.reserve(data_.tokens.size());
  for (int32_t id = 0; id < size(); ++id) id_of_text_.try_emplace(text(id), id);
}

void Vocabulary::index_bytes() {
  byte_tokens_.assign(256, kNoToken);
  for (int32_t id = 0; id < size(); ++id) {
    if (type(id) != TokenType::byte) continue;
    const auto byte = parse_byte_token(text(id));
    if (!byte) {
      fail(ErrorKind::invalid_file,
           "tokenizer.ggml.tokens: token {} is a byte token, expected <0x00> to <0xFF>, found '{}'", id,
           replace_invalid_utf8(text(id)));
    }
    if (byte_tokens_[*byte] == kNoToken) byte_tokens_[*byte] = id;
  }
}

void Vocabulary::collect_ends() {
  ends_.assign(data_.tokens.size(), false);
  for (const int32_t id : {data_.eos, data_.eot, data_.eom}) {
    if (id != kNoToken) ends_[static_cast<size_t>(id)] = true;
  }
  for (const int32_t id : well_known_ends(*this)) {
    // Files exist that give these an ordinary type; no text may become one.
    types_[static_cast<size_t>(id)] = TokenType::control;
    ends_[static_cast<size_t>(id)] = true;
  }
  for (int32_t id = 0; id < size(); ++id) {
    if (is_end(id)) end_tokens_.push_back(id);
  }
}

bool Vocabulary::add_space_prefix() const {
  return data_.add_space_prefix.value_or(data_.kind == VocabularyKind::sentence_piece);
}

std::optional<int32_t> Vocabulary::find(std::string_view text) const {
  const auto found = id_of_text_.find(text);
  if (found == id_of_text_.end()) return std::nullopt;
  return found->second;
}

std::optional<int32_t> Vocabulary::find_normal(std::string_view text) const {
  const auto id = find(text);
  return id && type(*id) == TokenType::normal ? id : std::nullopt;
}

unsigned char Vocabulary::byte_value(int32_t id) const { return parse_byte_token(text(id)).value_or(0); }

std::string Vocabulary::bytes(int32_t id) const {
  const TokenType kind_of_token = type(id);
  if (kind_of_token == TokenType::byte) return std::string(1, static_cast<char>(byte_value(id)));
  if (kind_of_token == TokenType::control || kind_of_token == TokenType::unknown) return text(id);
  if (kind() != VocabularyKind::byte_level) return unmark_blanks(text(id));
  return kind_of_token == TokenType::normal ? ByteAlphabet::instance().decode(text(id)) : text(id);
}

}  // namespace luce::text
