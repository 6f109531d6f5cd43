#include "completion/grammar/pattern.hpp"

#include "base/format.hpp"

#include <algorithm>

namespace luce::completion {

namespace {

using Kind = PatternNode::Kind;

class PatternCompiler {
 public:
  PatternCompiler(GrammarBuilder& builder, JsonRules& json, bool raw) : builder_(builder), json_(json), raw_(raw) {}

  // Alternatives of the whole pattern; without ^ or $ any text may come before or after.
  int whole(const PatternNode& choice, int next) {
    std::vector<int> branches;
    for (const PatternNode& sequence : choice.parts) {
      const int inside = node(sequence, sequence.at_end ? next : any_text(next));
      branches.push_back(sequence.at_start ? inside : any_text(inside));
    }
    return builder_.any_of(std::move(branches));
  }

 private:
  int any_text(int next) {
    const int character = raw_ ? raw_character(builder_, kReturn) : json_.character(kReturn);
    return builder_.repeat(builder_.rule(character), 0, kUnbounded, next);
  }

  int node(const PatternNode& pattern, int next) {
    switch (pattern.kind) {
      case Kind::characters:
        return raw_ ? raw_characters(pattern.characters, next) : characters(pattern.characters, next);
      case Kind::repeat:
        return builder_.repeat(builder_.rule(node(pattern.parts.front(), kReturn)), pattern.least, pattern.most, next);
      case Kind::sequence:
        for (auto part = pattern.parts.rbegin(); part != pattern.parts.rend(); ++part) next = node(*part, next);
        return next;
      case Kind::choice: {
        std::vector<int> branches;
        for (const PatternNode& part : pattern.parts) branches.push_back(node(part, next));
        return builder_.any_of(std::move(branches));
      }
    }
    return next;
  }

  // A "<" that is no more than one of many choices is left out, since it could begin the markup that ends the text.
  int raw_characters(const CodePoints& ranges, int next) {
    std::vector<int> branches;
    const bool alone = ranges.size() == 1 && ranges[0].first == ranges[0].second;
    for (auto [first, last] : ranges) {
      const bool holds = !alone && first <= U'<' && U'<' <= last;
      if (holds && first < U'<') branches.push_back(builder_.code_points(first, U'<' - 1, next));
      if (holds) first = U'<' + 1;
      if (first <= last && !is_surrogates(first, last)) branches.push_back(builder_.code_points(first, last, next));
    }
    return builder_.any_of(std::move(branches));
  }

  static bool is_surrogates(char32_t first, char32_t last) { return first >= 0xD800 && last <= 0xDFFF; }

  // In a JSON string quotes, backslashes and control characters are escaped.
  int characters(const CodePoints& ranges, int next) {
    std::vector<int> branches;
    for (const auto& [first, last] : ranges) {
      for (char32_t c = first; c <= std::min<char32_t>(last, 0x1F); ++c)
        branches.push_back(builder_.literal(escaped(c), next));
      for (const char32_t c : {U'"', U'\\'})
        if (first <= c && c <= last) branches.push_back(builder_.literal(escaped(c), next));
      add_plain(std::max<char32_t>(first, 0x20), last, next, branches);
    }
    return builder_.any_of(std::move(branches));
  }

  void add_plain(char32_t first, char32_t last, int next, std::vector<int>& branches) {
    for (const char32_t hole : {U'"', U'\\'}) {
      if (hole < first || hole > last) continue;
      if (first < hole) branches.push_back(builder_.code_points(first, hole - 1, next));
      first = hole + 1;
    }
    if (first <= last && !is_surrogates(first, last)) branches.push_back(builder_.code_points(first, last, next));
  }

  static std::string escaped(char32_t c) {
    switch (c) {
      case '"': return "\\\"";
      case '\\': return "\\\\";
      case '\b': return "\\b";
      case '\f': return "\\f";
      case '\n': return "\\n";
      case '\r': return "\\r";
      case '\t': return "\\t";
      default: return fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
    }
  }

  GrammarBuilder& builder_;
  JsonRules& json_;
  bool raw_;
};

}  // namespace

int compile_pattern(GrammarBuilder& builder, JsonRules& json, std::string_view pattern, const std::string& place,
                    int next) {
  const PatternNode parsed = parse_pattern(pattern, place);
  return compile_pattern(builder, json, {.pattern = parsed}, next);
}

int compile_pattern(GrammarBuilder& builder, JsonRules& json, const PatternText& text, int next) {
  return PatternCompiler(builder, json, text.raw).whole(text.pattern, next);
}

int raw_character(GrammarBuilder& builder, int next) {
  return builder.any_of({builder.code_points(0, U'<' - 1, next), builder.code_points(U'<' + 1, 0x10FFFF, next)});
}

}  // namespace luce::completion
