#include "text/blanks.hpp"

namespace luce::text {

std::string mark_blanks(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  for (const char c : text) {
    if (c == ' ') {
      out += kBlankMark;
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string unmark_blanks(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const bool mark = text.substr(at, kBlankMark.size()) == kBlankMark;
    out.push_back(mark ? ' ' : text[at]);
    at += mark ? kBlankMark.size() : 1;
  }
  return out;
}

size_t word_size(std::string_view text) {
  size_t at = 0;
  while (text.substr(at, kBlankMark.size()) == kBlankMark) at += kBlankMark.size();
  const size_t next = text.find(kBlankMark, at);
  return next == std::string_view::npos ? text.size() : next;
}

bool spans_words(std::string_view text) { return word_size(text) < text.size(); }

}  // namespace luce::text
