#include "text/tokenizer.hpp"

#include <optional>

#include "base/error.hpp"
#include "base/log.hpp"
#include "text/blanks.hpp"
#include "text/merge_encoder.hpp"
#include "text/normalizer.hpp"
#include "text/pre_tokenizer.hpp"
#include "text/score_encoder.hpp"
#include "text/special_matcher.hpp"
#include "text/utf8.hpp"

namespace luce::text {
namespace {

const PreTokenizerRow& pre_tokenizer_of(const Vocabulary& vocabulary) {
  std::string_view name = vocabulary.pre_tokenizer();
  // Files of these kinds often leave the name out or say "default".
  if (vocabulary.kind() == VocabularyKind::character && (name.empty() || name == "default")) name = "gemma4";
  if (vocabulary.kind() == VocabularyKind::byte_level && name.empty()) {
    base::log_warning("the model file does not name its pre-tokenizer; using the default, which may cost quality");
  }
  if (const PreTokenizerRow* row = find_pre_tokenizer(name)) return *row;
  std::string known;
  for (const PreTokenizerRow& row : all_pre_tokenizers()) known += (known.empty() ? "" : ", ") + std::string(row.name);
  fail(ErrorKind::unsupported, "tokenizer.ggml.pre: the pre-tokenizer '{}' is not offered; known are {}", name, known);
}

}  // namespace

class Tokenizer::Impl {
 public:
  explicit Impl(VocabularyData data)
      : vocabulary_(std::move(data)),
        everything_(vocabulary_, SpecialMatcher::Scope::everything),
        harmless_(vocabulary_, SpecialMatcher::Scope::harmless) {
    if (vocabulary_.kind() == VocabularyKind::sentence_piece) {
      scores_.emplace(vocabulary_);
      return;
    }
    words_.emplace(pre_tokenizer_of(vocabulary_));
    merges_.emplace(vocabulary_, vocabulary_.release_merges(), words_->row().whole_words);
  }

  const Vocabulary& vocabulary() const { return vocabulary_; }

  bool adds_bos() const {
    if (vocabulary_.bos() == kNoToken) return false;
    if (vocabulary_.kind() == VocabularyKind::character) return true;
    return vocabulary_.add_bos().value_or(words_ ? words_->row().add_bos : true);
  }

  std::vector<int32_t> encode(std::string_view text, std::span<const Span> plain) const {
    std::vector<int32_t> out;
    size_t run = 0;  // where the ordinary text since the last special token began
    size_t region = 0;
    bool after_special = true;
    for (size_t at = 0; at < text.size();) {
      while (region < plain.size() && plain[region].end <= at) ++region;
      const bool inside = region < plain.size() && plain[region].begin <= at;
      const size_t end = inside ? plain[region].end : region < plain.size() ? plain[region].begin : text.size();
      const auto found = (inside ? harmless_ : everything_).match(text.substr(0, end), at);
      if (!found) {
        ++at;
        continue;
      }
      encode_run(text.substr(run, at - run), after_special, out);
      out.push_back(found->id);
      after_special = true;
      at += found->size_bytes;
      run = at;
    }
    encode_run(text.substr(run), after_special, out);
    return out;
  }

 private:
  // Ordinary text between two special tokens.
  void encode_run(std::string_view run, bool after_special, std::vector<int32_t>& out) const {
    if (run.empty()) return;
    std::string text = is_valid_utf8(run) ? std::string(run) : replace_invalid_utf8(run);
    if (scores_) {
      if (after_special && vocabulary_.add_space_prefix()) text.insert(text.begin(), ' ');
      return scores_->encode(mark_blanks(text), out);
    }
    if (words_->row().normalize_nfc) text = normalize_nfc(text);
    if (vocabulary_.kind() == VocabularyKind::character) text = mark_blanks(text);
    size_t begin = 0;
    for (const size_t end : words_->split(text)) {
      merges_->encode(std::string_view(text).substr(begin, end - begin), out);
      begin = end;
    }
  }

  Vocabulary vocabulary_;
  SpecialMatcher everything_;
  SpecialMatcher harmless_;
  std::optional<PreTokenizer> words_;
  std::optional<MergeEncoder> merges_;
  std::optional<ScoreEncoder> scores_;
};

Tokenizer::Tokenizer(VocabularyData data) : impl_(std::make_unique<const Impl>(std::move(data))) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

const Vocabulary& Tokenizer::vocabulary() const { return impl_->vocabulary(); }
bool Tokenizer::adds_bos() const { return impl_->adds_bos(); }

std::vector<int32_t> Tokenizer::encode(std::string_view text, Special special, bool add_bos) const {
  const Span whole{0, text.size()};
  const std::span<const Span> plain(&whole, special == Special::plain ? 1 : 0);
  std::vector<int32_t> ids = impl_->encode(text, plain);
  if (add_bos && vocabulary().bos() != kNoToken) ids.insert(ids.begin(), vocabulary().bos());
  return ids;
}

std::vector<int32_t> Tokenizer::encode(const RenderedPrompt& prompt) const {
  std::vector<int32_t> ids = impl_->encode(prompt.text, prompt.plain_spans);
  const int32_t bos = vocabulary().bos();
  if (adds_bos() && (ids.empty() || ids.front() != bos)) ids.insert(ids.begin(), bos);
  return ids;
}

}  // namespace luce::text
