#include "completion/grammar/pattern_syntax.hpp"

#include "base/format.hpp"

#include <utility>

#include "completion/grammar/schema_keywords.hpp"
#include "text/utf8.hpp"

namespace luce::completion {

namespace {

constexpr int kMostDepth = 64;
constexpr int kMostCount = 100'000;

const CodePoints kDigits = {{'0', '9'}};
const CodePoints kWord = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const CodePoints kSpace = {{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x2028, 0x2029}, {0xFEFF, 0xFEFF}};

class PatternParser {
 public:
  PatternParser(std::string_view pattern, const std::string& place) : text_(pattern), place_(place) {}

  PatternNode parse() {
    PatternNode all = choice();
    if (!done()) refuse("has a closing bracket without an opening one");
    return all;
  }

 private:
  bool done() const { return at_ >= text_.size(); }
  bool is_next(char c) const { return !done() && text_[at_] == c; }
  bool take(char c) { return is_next(c) && (++at_, true); }
  [[noreturn]] void refuse(const std::string& what) const {
    refuse_schema(place_, fmt::format("{} at byte {} of \"{}\"", what, at_, text_));
  }

  char32_t next_code_point() {
    if (done()) refuse("ends too early");
    const text::Utf8Char c = text::decode_utf8(text_, at_);
    at_ += c.size_bytes;
    return c.code_point;
  }

  PatternNode choice() {
    if (++depth_ > kMostDepth) refuse("is nested too deeply");
    PatternNode node{.kind = PatternNode::Kind::choice};
    do node.parts.push_back(sequence());
    while (take('|'));
    --depth_;
    return node;
  }

  PatternNode sequence() {
    PatternNode node;
    node.at_start = take('^');
    while (!done() && !is_next('|') && !is_next(')')) {
      if (take('$')) {
        node.at_end = true;
        if (!done() && !is_next('|') && !is_next(')')) refuse("has a $ that is not at the end");
        break;
      }
      node.parts.push_back(quantified(atom()));
    }
    if (depth_ > 1 && (node.at_start || node.at_end)) refuse("has ^ or $ inside brackets, which is not supported,");
    return node;
  }

  PatternNode atom() {
    if (take('(')) return group();
    if (take('[')) return {.kind = PatternNode::Kind::characters, .characters = bracket()};
    if (take('.')) return {.kind = PatternNode::Kind::characters, .characters = without({{'\n', '\n'}, {'\r', '\r'}})};
    if (take('\\')) return {.kind = PatternNode::Kind::characters, .characters = escape()};
    if (is_next('*') || is_next('+') || is_next('?') || is_next('^')) refuse("has nothing to repeat or a misplaced ^");
    int least = 0, most = 0;
    if (braces(least, most)) refuse("has nothing to repeat");
    const char32_t c = next_code_point();
    return {.kind = PatternNode::Kind::characters, .characters = {{c, c}}};
  }

  PatternNode group() {
    if (take('?') && !take(':')) refuse("has a look-around or named group, which is not supported,");
    PatternNode inside = choice();
    if (!take(')')) refuse("has a bracket that is not closed");
    return inside;
  }

  PatternNode quantified(PatternNode part) {
    int least = 1, most = 1;
    if (take('*'))
      least = 0, most = -1;
    else if (take('+'))
      most = -1;
    else if (take('?'))
      least = 0;
    else if (!braces(least, most))
      return part;
    take('?');  // lazy: the same texts match
    PatternNode node{.kind = PatternNode::Kind::repeat, .least = least, .most = most};
    node.parts.push_back(std::move(part));
    return node;
  }

  // {n}, {n,} or {n,m}; anything else in braces is text.
  bool braces(int& least, int& most) {
    const size_t start = at_;
    if (!take('{')) return false;
    int low = 0, high = -1;
    bool valid = number(low);
    high = low;
    if (valid && take(',') && !number(high)) high = -1;
    valid = valid && take('}');
    if (!valid) return at_ = start, false;
    if (high != -1 && high < low) refuse("has a repetition whose most is below its least");
    least = low;
    most = high;
    return true;
  }

  bool number(int& value) {
    const size_t start = at_;
    for (value = 0; !done() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = value * 10 + (text_[at_] - '0');
      if (value > kMostCount) refuse(fmt::format("repeats more than {} times", kMostCount));
    }
    return at_ > start;
  }

  CodePoints escape() {
    const char32_t c = next_code_point();
    switch (c) {
      case 'd': return kDigits;
      case 'D': return without(kDigits);
      case 'w': return kWord;
      case 'W': return without(kWord);
      case 's': return kSpace;
      case 'S': return without(kSpace);
      default: break;
    }
    const char32_t one = single_escape(c);
    return {{one, one}};
  }

  char32_t single_escape(char32_t c) {
    switch (c) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      case 'f': return '\f';
      case 'v': return '\v';
      case '0': return 0;
      case 'x': return hex(2);
      case 'u': return hex(4);
      default: break;
    }
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '1' && c <= '9');
    if (letter) refuse(fmt::format("has \\{}, which is not supported,", static_cast<char>(c)));
    return c;
  }

  char32_t hex(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i) {
      const char32_t c = next_code_point();
      const bool digit = c >= '0' && c <= '9', letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'f';
      if (!digit && !letter) refuse("has an escape without its hexadecimal digits");
      value = value * 16 + (digit ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
  }

  CodePoints bracket() {
    const bool negated = take('^');
    CodePoints ranges;
    while (!take(']')) {
      CodePoints item = bracket_item();
      if (item.size() == 1 && item[0].first == item[0].second && is_next('-') && at_ + 1 < text_.size() &&
          text_[at_ + 1] != ']') {
        ++at_;
        const CodePoints end = bracket_item();
        if (end.size() != 1 || end[0].first != end[0].second || end[0].first < item[0].first)
          refuse("has a range of characters out of order");
        item[0].second = end[0].first;
      }
      ranges.insert(ranges.end(), item.begin(), item.end());
    }
    if (negated) ranges = without(std::move(ranges));
    if (ranges.empty()) refuse("has a set without characters");
    return ranges;
  }

  CodePoints bracket_item() {
    if (take('\\')) {
      if (take('b')) return {{'\b', '\b'}};
      return escape();
    }
    const char32_t c = next_code_point();
    return {{c, c}};
  }

  std::string_view text_;
  const std::string& place_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

PatternNode parse_pattern(std::string_view pattern, const std::string& place) {
  return PatternParser(pattern, place).parse();
}

}  // namespace luce::completion
