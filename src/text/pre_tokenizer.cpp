#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/pre_tokenizer.hpp"

#include <pcre2.h>

#include <cstdint>
#include <utility>

#include "base/check.hpp"
#include "base/error.hpp"

namespace luce::text {
namespace {

constexpr std::string_view kBlanks =
    R"(\t-\r\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

struct CodeDeleter {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct MatchDeleter {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
using Code = std::unique_ptr<pcre2_code, CodeDeleter>;
using Match = std::unique_ptr<pcre2_match_data, MatchDeleter>;

Code compile(const std::string& pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   PCRE2_UTF | PCRE2_UCP | PCRE2_NO_AUTO_CAPTURE, &error, &offset, nullptr);
  LUCE_CHECK(code != nullptr, "a pattern of the pre-tokenizer table does not compile");
  // Without JIT support matching is slower, not different.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return Code(code);
}

}  // namespace

class PreTokenizer::Pattern {
 public:
  explicit Pattern(std::string_view source) : code_(compile(spell_out_blanks(source))) {}

  // Cuts each of the pieces that end at `ends` further.
  std::vector<size_t> refine(std::string_view text, const std::vector<size_t>& ends) const {
    const Match match(pcre2_match_data_create_from_pattern(code_.get(), nullptr));
    if (!match) fail(ErrorKind::out_of_memory, "no memory to split a text into words");
    std::vector<size_t> finer;
    finer.reserve(ends.size());
    size_t begin = 0;
    for (const size_t end : ends) {
      const std::string_view subject = text.substr(begin, end - begin);
      for (size_t at = 0; at < subject.size();) {
        const auto [from, to] = next(subject, at, match.get());
        if (from > at) finer.push_back(begin + from);
        if (to > from) finer.push_back(begin + to);
        at = to;
      }
      begin = end;
    }
    return finer;
  }

 private:
  // The next match that is not empty, or the empty range at the end.
  std::pair<size_t, size_t> next(std::string_view subject, size_t at, pcre2_match_data* match) const {
    const auto run = [&](uint32_t options) {
      return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), at,
                         PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY | options, match, nullptr);
    };
    int result = run(0);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = run(PCRE2_NO_JIT);
    if (result == PCRE2_ERROR_NOMATCH) return {subject.size(), subject.size()};
    if (result < 0)
      fail(ErrorKind::internal, "splitting a text of {} bytes into words failed: PCRE2 {}", subject.size(), result);
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(match);
    return {range[0], range[1]};
  }

  Code code_;
};

PreTokenizer::PreTokenizer(const PreTokenizerRow& row) : row_(&row) {
  for (const std::string_view pattern : row.patterns) patterns_.emplace_back(pattern);
}
PreTokenizer::~PreTokenizer() = default;
PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer& PreTokenizer::operator=(PreTokenizer&&) noexcept = default;

std::vector<size_t> PreTokenizer::split(std::string_view text) const {
  std::vector<size_t> ends;
  if (text.empty()) return ends;
  ends.push_back(text.size());
  for (const Pattern& pattern : patterns_) ends = pattern.refine(text, ends);
  return ends;
}

std::string spell_out_blanks(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool escape = c == '\\' && i + 1 < pattern.size();
    if (!escape) {
      if (c == '[') in_class = true;
      if (c == ']') in_class = false;
      out.push_back(c);
      continue;
    }
    const char escaped = pattern[++i];
    if (escaped == 's') {
      out += in_class ? std::string(kBlanks) : "[" + std::string(kBlanks) + "]";
    } else if (escaped == 'S') {
      LUCE_CHECK(!in_class, "the pre-tokenizer table has \\S inside a class");
      out += "[^" + std::string(kBlanks) + "]";
    } else {
      out += {'\\', escaped};
    }
  }
  return out;
}

}  // namespace luce::text
