#include "text/special_matcher.hpp"

#include <algorithm>

#include "text/blanks.hpp"
#include "text/vocabulary.hpp"

namespace luce::text {
namespace {

constexpr std::string_view kHtmlNames[] = {
    "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "h1", "h2",     "h3",  "h4",  "h5",
    "h6",    "p",       "br",    "hr",    "ul",    "ol", "li", "dl", "dt", "dd",     "a",   "img", "blockquote",
    "pre",   "code",    "div",   "span",  "b",     "i",  "u",  "s",  "em", "strong", "sub", "sup"};

bool is_blank_run(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at, kBlankMark.size()) == kBlankMark) {
      at += kBlankMark.size();
    } else if (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
      ++at;
    } else {
      return false;
    }
  }
  return !text.empty();
}

bool is_html_tag(std::string_view text) {
  if (text.size() < 3 || text.front() != '<' || text.back() != '>') return false;
  text = text.substr(1, text.size() - 2);
  if (text.front() == '/') text.remove_prefix(1);
  return std::find(std::begin(kHtmlNames), std::end(kHtmlNames), text) != std::end(kHtmlNames);
}

bool counts(const Vocabulary& vocabulary, int32_t id, SpecialMatcher::Scope scope) {
  const TokenType type = vocabulary.type(id);
  if (scope == SpecialMatcher::Scope::everything) {
    return type == TokenType::control || type == TokenType::user_defined || type == TokenType::unknown;
  }
  const std::string& text = vocabulary.text(id);
  return type == TokenType::user_defined && (is_blank_run(text) || is_html_tag(text));
}

}  // namespace

SpecialMatcher::SpecialMatcher(const Vocabulary& vocabulary, Scope scope) {
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (!counts(vocabulary, id, scope)) continue;
    // Vocabularies that mark blanks do so in these tokens too, while matching sees the plain text.
    const bool escaped = vocabulary.kind() != VocabularyKind::byte_level && is_blank_run(vocabulary.text(id));
    insert(escaped ? unmark_blanks(vocabulary.text(id)) : vocabulary.text(id), id);
  }
}

void SpecialMatcher::insert(std::string_view text, int32_t id) {
  if (text.empty()) return;
  begins_[static_cast<unsigned char>(text.front())] = true;
  uint32_t node = 0;
  for (const char c : text) {
    const uint64_t key = (static_cast<uint64_t>(node) << 8) | static_cast<unsigned char>(c);
    const auto [child, added] = children_.try_emplace(key, static_cast<uint32_t>(id_of_node_.size()));
    if (added) id_of_node_.push_back(-1);
    node = child->second;
  }
  if (id_of_node_[node] < 0) id_of_node_[node] = id;
}

std::optional<SpecialMatch> SpecialMatcher::match(std::string_view text, size_t at) const {
  if (!begins_[static_cast<unsigned char>(text[at])]) return std::nullopt;
  std::optional<SpecialMatch> longest;
  uint32_t node = 0;
  for (size_t i = at; i < text.size(); ++i) {
    const auto child = children_.find((static_cast<uint64_t>(node) << 8) | static_cast<unsigned char>(text[i]));
    if (child == children_.end()) break;
    node = child->second;
    if (id_of_node_[node] >= 0) longest = SpecialMatch{id_of_node_[node], i + 1 - at};
  }
  return longest;
}

}  // namespace luce::text
