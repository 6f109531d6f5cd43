#include "completion/reply/incoming.hpp"

#include <algorithm>

namespace luce::completion {

namespace {

constexpr size_t kMostSpace = 256;  // between markup
constexpr size_t kMostName = 256;
constexpr size_t kCompactBytes = 4096;

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == ':';
}

}  // namespace

void Incoming::consume(size_t bytes) {
  read_ += bytes;
  if (read_ < kCompactBytes || read_ < buffer_.size() / 2) return;
  buffer_.erase(0, read_);
  dropped_ += read_;
  read_ = 0;
}

Match Peek::literal(std::string_view expected) {
  const std::string_view here = text_.substr(at_, expected.size());
  if (here != expected.substr(0, here.size())) return Match::no;
  if (here.size() < expected.size()) return missing();
  at_ += expected.size();
  return Match::yes;
}

Match Peek::space() {
  size_t end = at_;
  while (end < text_.size() && is_space(text_[end])) ++end;
  if (end - at_ > kMostSpace) return Match::no;
  if (end == text_.size() && !closed_) return Match::unsure;
  at_ = end;
  return Match::yes;
}

Match Peek::until(char end, std::string& run) {
  for (size_t i = at_; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == end && i > at_) {
      run = text_.substr(at_, i - at_);
      at_ = i + 1;
      return Match::yes;
    }
    if (c == end || c == '<' || c == '\n' || i - at_ > kMostName) return Match::no;
  }
  return missing();
}

Match Peek::name(std::string& run) {
  size_t end = at_;
  while (end < text_.size() && is_name_byte(text_[end])) ++end;
  if (end - at_ > kMostName) return Match::no;
  if (end == text_.size() && !closed_) return Match::unsure;
  if (end == at_) return Match::no;
  run = text_.substr(at_, end - at_);
  at_ = end;
  return Match::yes;
}

Match Peek::next(char& byte) const {
  if (at_ >= text_.size()) return missing();
  byte = text_[at_];
  return Match::yes;
}

size_t trimmed_length(std::string_view text) {
  size_t length = text.size();
  while (length > 0 && is_space(text[length - 1])) --length;
  return length;
}

size_t partial_suffix(std::string_view text, std::string_view expected) {
  if (expected.empty()) return 0;
  for (size_t length = std::min(text.size(), expected.size() - 1); length > 0; --length)
    if (text.substr(text.size() - length) == expected.substr(0, length)) return length;
  return 0;
}

}  // namespace luce::completion
