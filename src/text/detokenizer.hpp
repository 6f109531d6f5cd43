#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "text/vocabulary.hpp"

namespace luce::text {

/// Cuts a stream of bytes into whole UTF-8: what is incomplete waits, what is invalid becomes U+FFFD.
class Utf8Stream {
 public:
  /// The text that is certain after these bytes; may be empty.
  std::string push(std::string_view bytes);
  /// What waits at the end of the stream: nothing, or one U+FFFD for half a character.
  std::string flush();
  /// Bytes that wait for the rest of their character.
  size_t pending_bytes() const { return pending_.size(); }

 private:
  std::string pending_;  // at most 3 bytes
};

struct DetokenizerOptions {
  bool show_control = false;         // control tokens give their text instead of nothing
  bool strip_leading_space = false;  // for whole texts of vocabularies that put a blank in front of each
};

/// Tokens of one reply to text, in whole UTF-8 at every step. One reply, one detokenizer.
class Detokenizer {
 public:
  /// `vocabulary` must outlive the detokenizer.
  explicit Detokenizer(const Vocabulary& vocabulary, DetokenizerOptions options = {})
      : vocabulary_(vocabulary), options_(options), at_start_(options.strip_leading_space) {}

  /// The text that is certain after this token. An id outside the vocabulary gives nothing.
  std::string push(int32_t id);
  /// The rest at the end of the reply.
  std::string flush() { return stream_.flush(); }
  size_t pending_bytes() const { return stream_.pending_bytes(); }
  /// The bytes that push adds for this token, for log-probabilities.
  std::string token_bytes(int32_t id) const;

 private:
  const Vocabulary& vocabulary_;
  DetokenizerOptions options_;
  bool at_start_;
  Utf8Stream stream_;
};

/// The text of whole tokens, as Detokenizer gives it. A leading blank that encoding had put in front is removed.
std::string decode(const Vocabulary& vocabulary, std::span<const int32_t> ids, bool show_control = false);

}  // namespace luce::text
