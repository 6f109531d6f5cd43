#include "completion/grammar/gbnf.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "completion/grammar/code_points.hpp"
#include "text/utf8.hpp"

namespace luce::completion {

namespace {

constexpr int kMostDepth = 64;
constexpr int kMostCount = 100'000;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/// Each element of a rule becomes a rule of its own, so that elements can be read from left to right.
class GbnfParser {
 public:
  GbnfParser(GrammarBuilder& builder, std::string_view text) : builder_(builder), text_(text) {}

  int parse(int next) {
    for (skip_space(true); !done(); skip_space(true)) definition();
    for (const auto& [name, rule] : rules_)
      if (!rule.defined) refuse(fmt::format("the rule \"{}\" is used but not defined", name));
    if (!rules_.contains("root")) refuse("there is no rule \"root\" to begin with");
    return builder_.call(rules_["root"].number, next);
  }

 private:
  struct Rule {
    int number = -1;
    bool defined = false;
  };

  bool done() const { return at_ >= text_.size(); }
  bool is_next(char c) const { return !done() && text_[at_] == c; }
  bool take(char c) { return is_next(c) && (++at_, true); }

  [[noreturn]] void refuse(const std::string& what) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    throw Error(ErrorKind::invalid_request,
                fmt::format("grammar, line {}, column {}: {}", line, at_ - line_start + 1, what), "grammar");
  }

  void skip_space(bool line_breaks) {
    while (!done()) {
      if (is_next('#')) {
        while (!done() && !is_next('\n')) ++at_;
      } else if (is_next(' ') || is_next('\t') || (line_breaks && (is_next('\n') || is_next('\r')))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string name() {
    const size_t start = at_;
    while (!done() && is_name(text_[at_])) ++at_;
    if (at_ == start) refuse("expected the name of a rule");
    return std::string(text_.substr(start, at_ - start));
  }

  Rule& rule_of(const std::string& name) {
    Rule& rule = rules_[name];
    if (rule.number < 0) rule.number = builder_.declare_rule();
    return rule;
  }

  void definition() {
    Rule& rule = rule_of(name());
    if (rule.defined) refuse("this rule is defined twice");
    skip_space(false);
    if (text_.substr(at_, 3) != "::=") refuse("expected ::= after the name of a rule");
    at_ += 3;
    rule.defined = true;
    builder_.define(rule.number, alternatives(false));
    skip_space(false);
    if (!done() && !is_next('\n') && !is_next('\r')) refuse("expected the end of the line");
  }

  int alternatives(bool in_brackets) {
    if (++depth_ > kMostDepth) refuse("brackets are nested too deeply");
    std::vector<int> branches;
    do branches.push_back(sequence(in_brackets));
    while (take('|'));
    --depth_;
    return builder_.any_of(std::move(branches));
  }

  int sequence(bool in_brackets) {
    std::vector<std::pair<int, std::pair<int, int>>> parts;  // rule, least and most
    skip_space(true);
    while (!done() && !is_next('|') && !is_next(')') && !is_next('\n') && !is_next('\r')) {
      const int part = element();
      parts.emplace_back(part, repetition());
      skip_space(in_brackets);
      if (!in_brackets && continues_below()) skip_space(true);
    }
    int node = kReturn;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      const auto& [rule, times] = *part;
      node =
          times == std::pair(1, 1) ? builder_.call(rule, node) : builder_.repeat(rule, times.first, times.second, node);
    }
    return node;
  }

  // An alternative may begin on the next line.
  bool continues_below() const {
    size_t at = at_;
    while (at < text_.size() && (text_[at] == '\n' || text_[at] == '\r' || text_[at] == ' ' || text_[at] == '\t')) ++at;
    return at < text_.size() && text_[at] == '|';
  }

  int element() {
    if (take('"')) return builder_.rule(literal());
    if (take('[')) return builder_.rule(set());
    if (take('.')) return builder_.rule(builder_.code_points(0, 0x10FFFF, kReturn));
    if (take('(')) {
      const int rule = builder_.rule(alternatives(true));
      if (!take(')')) refuse("expected a closing bracket");
      return rule;
    }
    return rule_of(name()).number;
  }

  int literal() {
    std::string bytes;
    while (!take('"')) text::append_utf8(bytes, character());
    return builder_.literal(bytes, kReturn);
  }

  int set() {
    const bool negated = take('^');
    CodePoints ranges;
    while (!take(']')) {
      const char32_t first = character();
      const bool range = is_next('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']' && take('-');
      const char32_t last = range ? character() : first;
      if (last < first) refuse("a range of characters is out of order");
      ranges.emplace_back(first, last);
    }
    if (negated) ranges = without(std::move(ranges));
    std::vector<int> branches;
    for (const auto& [first, last] : ranges)
      if (first < 0xD800 || last > 0xDFFF) branches.push_back(builder_.code_points(first, last, kReturn));
    if (branches.empty()) refuse("this set holds no character");
    return builder_.any_of(std::move(branches));
  }

  char32_t character() {
    if (done()) refuse("the grammar ends inside a literal or set");
    if (take('\\')) return escape();
    const text::Utf8Char c = text::decode_utf8(text_, at_);
    at_ += c.size_bytes;
    return c.code_point;
  }

  char32_t escape() {
    if (done()) refuse("the grammar ends inside an escape");
    const char c = text_[at_++];
    switch (c) {
      case 'n': return '\n';
      case 'r': return '\r';
      case 't': return '\t';
      case 'x': return hex(2);
      case 'u': return hex(4);
      case 'U': return hex(8);
      case '\\':
      case '"':
      case '[':
      case ']':
      case '-':
      case '^': return static_cast<char32_t>(c);
      default: refuse("this escape is not known; write \\\\ for a backslash");
    }
  }

  char32_t hex(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const char c = done() ? '?' : text_[at_];
      const bool digit = c >= '0' && c <= '9', letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'f';
      if (!digit && !letter) refuse("an escape lacks its hexadecimal digits");
      value = value * 16 + static_cast<char32_t>(digit ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
  }

  std::pair<int, int> repetition() {
    if (take('*')) return {0, kUnbounded};
    if (take('+')) return {1, kUnbounded};
    if (take('?')) return {0, 1};
    if (!take('{')) return {1, 1};
    const int least = is_next(',') ? 0 : number();
    int most = least;
    if (take(',')) most = is_next('}') ? kUnbounded : number();
    if (!take('}')) refuse("expected } after a count");
    if (most != kUnbounded && most < least) refuse("the most of a repetition is below its least");
    return {least, most};
  }

  int number() {
    int value = 0;
    const size_t start = at_;
    for (; !done() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = value * 10 + (text_[at_] - '0');
      if (value > kMostCount) refuse(fmt::format("a count is above {}", kMostCount));
    }
    if (at_ == start) refuse("expected a count");
    return value;
  }

  GrammarBuilder& builder_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::map<std::string, Rule> rules_;
};

}  // namespace

int compile_gbnf(GrammarBuilder& builder, std::string_view grammar, int next) {
  return GbnfParser(builder, grammar).parse(next);
}

}  // namespace luce::completion
