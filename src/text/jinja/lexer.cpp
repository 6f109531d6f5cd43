#include <algorithm>
#include <array>

#include "text/jinja/characters.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/literals.hpp"
#include "text/jinja/token.hpp"

namespace luce::text::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) { return begins_name(c) || is_digit(c); }

// Python reads all line ends as "\n"; Jinja2 drops one at the end of the template.
std::string normalize_lines(const std::string& source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
    out.push_back(source[i] == '\r' ? '\n' : source[i]);
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(const std::string& source) : source_(normalize_lines(source)) {
    line_begins_.push_back(0);
    for (size_t i = 0; i < source_.size(); ++i) {
      if (source_[i] == '\n') line_begins_.push_back(i + 1);
    }
  }

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      const size_t tag = find_tag();
      if (tag == std::string::npos) {
        emit_data(source_.size(), '+', true);
        break;
      }
      const char type = source_[tag + 1];
      const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
      const bool has_sign = sign == '-' || sign == '+';
      emit_data(tag, sign, type == '{');
      at_ = tag + 2 + (has_sign ? 1 : 0);
      if (type == '#') {
        skip_comment(tag);
      } else if (type == '{') {
        lex_tag(tag, TokenKind::variable_begin);
      } else if (!lex_raw(tag)) {
        lex_tag(tag, TokenKind::block_begin);
      }
    }
    emit(TokenKind::end, source_.size());
    return std::move(tokens_);
  }

 private:
  Position position(size_t offset) const {
    const auto line = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset) - 1;
    return {static_cast<uint32_t>(line - line_begins_.begin() + 1), static_cast<uint32_t>(offset - *line + 1)};
  }

  [[noreturn]] void fail_at(size_t offset, const std::string& message) const { raise_at(position(offset), message); }

  bool looking_at(std::string_view text) const { return source_.compare(at_, text.size(), text) == 0; }

  Token& emit(TokenKind kind, size_t offset, std::string text = {}) {
    tokens_.push_back({kind, position(offset), std::move(text), 0, 0});
    return tokens_.back();
  }

  size_t find_tag() const {
    for (size_t at = source_.find('{', at_); at != std::string::npos; at = source_.find('{', at + 1)) {
      const char next = at + 1 < source_.size() ? source_[at + 1] : '\0';
      if (next == '%' || next == '{' || next == '#') return at;
    }
    return std::string::npos;
  }

  // The text up to a tag; its sign or, for blocks and comments, the line before it decides which blanks go.
  void emit_data(size_t end, char sign, bool variable) {
    std::string_view text = std::string_view(source_).substr(at_, end - at_);
    if (sign == '-') {
      text.remove_suffix(trailing_spaces(text));
    } else if (sign != '+' && !variable) {
      const size_t line = text.rfind('\n') + 1;  // 0 if there is none
      if ((line > 0 || line_starting_) && leading_spaces(text.substr(line)) == text.size() - line) {
        text = text.substr(0, line);
      }
    }
    line_starting_ = false;
    if (!text.empty()) emit(TokenKind::data, at_, std::string(text));
  }

  void skip_spaces() { at_ += leading_spaces(std::string_view(source_).substr(at_)); }

  // Behind the closing mark of a block or comment at `at_`.
  void close_tag(char sign) {
    if (sign == '-') {
      const size_t before = at_;
      skip_spaces();
      line_starting_ = at_ > before && source_[at_ - 1] == '\n';
    } else if (sign != '+' && at_ < source_.size() && source_[at_] == '\n') {
      ++at_;
      line_starting_ = true;
    }
  }

  void skip_comment(size_t tag) {
    const size_t begin = at_;
    const size_t end = source_.find("#}", begin);
    if (end == std::string::npos) fail_at(tag, "this comment is never closed with '#}'");
    at_ = end + 2;
    close_tag(end > begin ? source_[end - 1] : '\0');
  }

  // Moves behind `name` and the end of its block if that stands at `at_`; gives the sign before the end.
  bool skip_word_block(std::string_view name, char& sign) {
    const size_t before = at_;
    skip_spaces();
    if (looking_at(name)) {
      at_ += name.size();
      skip_spaces();
      sign = looking_at("-%}") ? '-' : looking_at("+%}") ? '+' : '\0';
      if (sign != '\0') ++at_;
      if (looking_at("%}")) {
        at_ += 2;
        return true;
      }
    }
    at_ = before;
    return false;
  }

  bool lex_raw(size_t tag) {
    char sign = '\0';
    if (!skip_word_block("raw", sign)) return false;
    if (sign == '-') close_tag('-');
    const size_t begin = at_;
    for (size_t end = source_.find("{%", begin); end != std::string::npos; end = source_.find("{%", end + 2)) {
      at_ = end + 2;
      const char open_sign = at_ < source_.size() ? source_[at_] : '\0';
      if (open_sign == '-' || open_sign == '+') ++at_;
      if (!skip_word_block("endraw", sign)) continue;
      const size_t after = at_;
      at_ = begin;
      emit_data(end, open_sign, false);
      at_ = after;
      close_tag(sign);
      return true;
    }
    fail_at(tag, "this raw block is never closed with '{% endraw %}'");
  }

  bool lex_tag_end(TokenKind begin) {
    const bool block = begin == TokenKind::block_begin;
    const std::string_view mark = block ? "%}" : "}}";
    const char sign = source_[at_];
    const bool signed_end = (sign == '-' || (block && sign == '+')) && source_.compare(at_ + 1, 2, mark) == 0;
    if (!signed_end && !looking_at(mark)) return false;
    emit(block ? TokenKind::block_end : TokenKind::variable_end, at_);
    at_ += signed_end ? 3 : 2;
    if (block || signed_end) close_tag(signed_end ? sign : '\0');
    return true;
  }

  void lex_tag(size_t tag, TokenKind begin) {
    emit(begin, tag);
    brackets_.clear();
    while (true) {
      skip_spaces();
      if (at_ >= source_.size()) break;
      if (brackets_.empty() && lex_tag_end(begin)) return;
      lex_token();
    }
    fail_at(tag, begin == TokenKind::block_begin ? "this tag is never closed with '%}'"
                                                 : "this tag is never closed with '}}'");
  }

  void lex_token() {
    const char c = source_[at_];
    if (begins_name(c)) {
      const size_t begin = at_;
      while (at_ < source_.size() && continues_name(source_[at_])) ++at_;
      emit(TokenKind::name, begin, source_.substr(begin, at_ - begin));
    } else if (is_digit(c)) {
      lex_number();
    } else if (c == '"' || c == '\'') {
      lex_string(c);
    } else {
      lex_operator();
    }
  }

  void lex_number() {
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
    const NumberLiteral number = parse_number(std::string_view(source_).substr(at_), !after_dot);
    if (number.size == 0) fail_at(at_, "this number is too large");
    Token& token = emit(number.is_real ? TokenKind::real : TokenKind::integer, at_);
    token.integer = number.integer;
    token.real = number.real;
    at_ += number.size;
  }

  void lex_string(char quote) {
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail_at(at_, "this text is never closed with its quote");
    std::string error;
    std::string text = unescape(std::string_view(source_).substr(at_ + 1, end - at_ - 1), error);
    if (!error.empty()) fail_at(at_, error);
    emit(TokenKind::string, at_, std::move(text));
    at_ = end + 1;
  }

  void lex_operator() {
    constexpr std::array<std::string_view, 6> kDouble = {"//", "**", "==", "!=", ">=", "<="};
    constexpr std::string_view kSingle = "+-/*%~[](){}<>=.:|,;";
    size_t size = 0;
    for (const std::string_view op : kDouble) {
      if (looking_at(op)) size = 2;
    }
    if (size == 0 && kSingle.find(source_[at_]) != std::string_view::npos) size = 1;
    if (size == 0) fail_at(at_, "unexpected character '" + source_.substr(at_, 1) + "'");
    const std::string op = source_.substr(at_, size);
    balance(op);
    emit(TokenKind::op, at_, op);
    at_ += size;
  }

  void balance(const std::string& op) {
    if (op == "(") brackets_.push_back(')');
    if (op == "[") brackets_.push_back(']');
    if (op == "{") brackets_.push_back('}');
    if (op != ")" && op != "]" && op != "}") return;
    if (brackets_.empty()) fail_at(at_, "unexpected '" + op + "'");
    if (brackets_.back() != op[0])
      fail_at(at_, std::string("unexpected '") + op + "', expected '" + brackets_.back() + "'");
    brackets_.pop_back();
  }

  std::string source_;
  std::vector<size_t> line_begins_;
  std::vector<Token> tokens_;
  std::string brackets_;  // the closing brackets that are due
  size_t at_ = 0;
  bool line_starting_ = true;
};

}  // namespace

std::string describe(Position at) { return fmt::format("line {}, column {}", at.line, at.column); }

void raise_at(Position at, const std::string& message) { raise("{}: {}", describe(at), message); }

std::vector<Token> tokenize(const std::string& source) { return Lexer(source).run(); }

}  // namespace luce::text::jinja
