#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace luce::completion {

/// Text of a reply that arrived and was not read yet.
class Incoming {
 public:
  void append(std::string_view text) { buffer_.append(text); }
  /// No more will arrive.
  void close() { closed_ = true; }
  bool closed() const { return closed_; }

  std::string_view rest() const { return std::string_view(buffer_).substr(read_); }
  /// Where rest() begins in the whole text.
  size_t position() const { return dropped_ + read_; }
  void consume(size_t bytes);

 private:
  std::string buffer_;
  size_t read_ = 0;
  size_t dropped_ = 0;  // bytes that were before the buffer
  bool closed_ = false;
};

/// Whether text matches, as far as it has arrived.
enum class Match { no, unsure, yes };

/// Looks ahead in text without reading it. Each method moves on only if it matches; what could still come makes a match
/// unsure, so the outcome does not depend on how the text was cut.
class Peek {
 public:
  explicit Peek(const Incoming& incoming, size_t from = 0)
      : text_(incoming.rest()), closed_(incoming.closed()), at_(from) {}

  Match literal(std::string_view expected);
  /// Any amount of white space up to a bound, none too.
  Match space();
  /// A run of at least one byte up to `end`, which is passed too, without line breaks or '<'.
  Match until(char end, std::string& run);
  /// A run of at least one letter, digit, '_', '-', '.' or ':'.
  Match name(std::string& run);
  /// The next byte, which is not passed.
  Match next(char& byte) const;

  size_t at() const { return at_; }

 private:
  Match missing() const { return closed_ ? Match::no : Match::unsure; }

  std::string_view text_;
  bool closed_;
  size_t at_;
};

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\v'; }

/// Length of the text without white space at its end.
size_t trimmed_length(std::string_view text);
/// Length of the longest end of `text` that begins `expected` without completing it.
size_t partial_suffix(std::string_view text, std::string_view expected);

}  // namespace luce::completion
