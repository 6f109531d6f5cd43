#include "text/pre_tokenizer_table.hpp"

#include <array>

// Sources: the `pre_tokenizer` of each model family's tokenizer.json.
#define LUCE_CONTRACTIONS R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
#define LUCE_TAIL R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"
#define LUCE_SLASH_TAIL R"( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"
#define LUCE_WORD R"([^\r\n\p{L}\p{N}]?\p{L}+)"
#define LUCE_UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LUCE_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define LUCE_GPT2 R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"
#define LUCE_CASED_WORDS(suffix)                                                                                  \
  R"([^\r\n\p{L}\p{N}]?)" LUCE_UPPER "*" LUCE_LOWER "+" suffix R"(|[^\r\n\p{L}\p{N}]?)" LUCE_UPPER "+" LUCE_LOWER \
  "*" suffix
#define LUCE_DEEPSEEK_WORDS                                                                 \
  R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)" \
  R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"

namespace luce::text {
namespace {

using Patterns1 = std::array<std::string_view, 1>;
using Patterns2 = std::array<std::string_view, 2>;
using Patterns3 = std::array<std::string_view, 3>;

constexpr Patterns1 kQwen2 = {LUCE_CONTRACTIONS "|" LUCE_WORD R"(|\p{N}|)" LUCE_TAIL};
constexpr Patterns1 kQwen35 = {LUCE_CONTRACTIONS
                               R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)"
                               R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr Patterns1 kLlama3 = {LUCE_CONTRACTIONS "|" LUCE_WORD R"(|\p{N}{1,3}|)" LUCE_TAIL};
constexpr Patterns1 kGpt4o = {LUCE_CASED_WORDS(LUCE_CONTRACTIONS "?") R"(|\p{N}{1,3}|)" LUCE_SLASH_TAIL};
constexpr Patterns1 kTekken = {LUCE_CASED_WORDS("") R"(|\p{N}|)" LUCE_SLASH_TAIL};
constexpr Patterns1 kGpt2 = {LUCE_GPT2};
constexpr Patterns2 kDigitsGpt2 = {R"(\p{N})", LUCE_GPT2};
constexpr Patterns2 kLaguna = {R"([^\n]+|[\n]+)", LUCE_CONTRACTIONS "|" LUCE_WORD R"(|\p{N}|)" LUCE_TAIL};
constexpr Patterns1 kLines = {R"([^\n]+|[\n]+)"};
constexpr Patterns3 kDeepseek3 = {R"(\p{N}{1,3})", R"([\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)",
                                  LUCE_DEEPSEEK_WORDS};
constexpr std::array<std::string_view, 5> kDeepseekCoder = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                                            R"([\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+)",
                                                            R"(\p{N})"};
// The fourth pattern is `\s+$` in a form that takes linear time.
constexpr std::array<std::string_view, 6> kDeepseekLlm = {
    R"([\r\n])",
    R"(\s?[A-Za-z\x{b5}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{1ba}\x{1bc}-\x{1bf}\x{1c4}-\x{293})"
    R"(\x{295}-\x{2af}\x{370}-\x{373}\x{376}\x{377}\x{37b}-\x{37d}\x{37f}\x{386}\x{388}-\x{38a}\x{38c})"
    R"(\x{38e}-\x{3a1}\x{3a3}-\x{3f5}\x{3f7}-\x{481}\x{48a}-\x{52f}\x{531}-\x{556}\x{10a0}-\x{10c5})"
    R"(\x{13a0}-\x{13f5}\x{13f8}-\x{13fd}\x{1c90}-\x{1cba}\x{1cbd}-\x{1cbf}\x{1d00}-\x{1d2b})"
    R"(\x{1d6b}-\x{1d77}\x{1d79}-\x{1d9a}\x{1e00}-\x{1f15}\x{1f18}-\x{1f1d}\x{1f20}-\x{1f45})"
    R"(\x{1f48}-\x{1f4d}\x{1f50}-\x{1f57}\x{1f59}\x{1f5b}\x{1f5d}\x{1f5f}-\x{1f7d}\x{1f80}-\x{1fb4})"
    R"(\x{1fb6}-\x{1fbc}\x{1fbe}\x{1fc2}-\x{1fc4}\x{1fc6}-\x{1fcc}\x{1fd0}-\x{1fd3}\x{1fd6}-\x{1fdb})"
    R"(\x{1fe0}-\x{1fec}\x{1ff2}-\x{1ff4}\x{1ff6}-\x{1ffc}\x{2102}\x{2107}\x{210a}-\x{2113}\x{2115})"
    R"(\x{2119}-\x{211d}\x{2124}\x{2126}\x{2128}\x{212a}-\x{212d}\x{212f}-\x{2134}\x{2139})"
    R"(\x{213c}-\x{213f}\x{2145}-\x{2149}\x{214e}\x{2183}\x{2184}\x{2c00}-\x{2c7b}\x{2c7e}-\x{2ce4})"
    R"(\x{2ceb}-\x{2cee}\x{2cf2}\x{2cf3}\x{a640}-\x{a66d}\x{a680}-\x{a69b}\x{a722}-\x{a76f})"
    R"(\x{a771}-\x{a787}\x{a78b}-\x{a78e}\x{ab70}-\x{abbf}\x{fb00}-\x{fb06}\x{fb13}-\x{fb17})"
    R"(\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a}\x{10400}-\x{1044f}\x{104b0}-\x{104d3}\x{104d8}-\x{104fb})"
    R"(\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2}\x{118a0}-\x{118df}\x{1e900}-\x{1e943}]+)",
    R"(\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+)",
    R"((?<!\s)\s++\z)",
    R"([\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+)",
    R"(\p{N}+)"};
constexpr Patterns3 kFalcon = {R"([\p{P}\$\+<=>\^~\|`]+)", LUCE_GPT2, R"([0-9][0-9][0-9])"};
constexpr std::array<std::string_view, 4> kDefault = {R"([\p{P}\$\+<=>\^~\|]+)", LUCE_GPT2, R"(\p{N}+)",
                                                      R"([0-9][0-9][0-9])"};
constexpr Patterns1 kBloom = {R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{ff0c}\x{3001}\x{964}\x{6d4}\x{60c})]+)"};
constexpr Patterns2 kViking = {R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{ff0c}\x{3001}\x{964}\x{6d4}\x{60c})]+)", R"(\p{N})"};
constexpr Patterns1 kBailing = {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
                                R"(|\s*[\r\n]|\s+(?!\S)|\s+)"};
constexpr Patterns1 kSeedCoder = {LUCE_CONTRACTIONS "|" LUCE_WORD
                                                    R"(|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr Patterns2 kYoutu = {
    R"([\x{ac00}-\x{d7a3}\x{3131}-\x{318e}]+|[\x{ff01}\x{2026}\x{201c}\x{201d}\x{2018}\x{2019}\x{2014}\x{ff1a}\x{ff1b}\x{ff0c}\x{3001}-\x{303f}\x{fe30}-\x{fe4f}]+|[\x{3105}-\x{312f}]+|[\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)",
    LUCE_CASED_WORDS(LUCE_CONTRACTIONS "?") R"(|\p{N}|)" LUCE_SLASH_TAIL};
constexpr Patterns2 kMiniCpm5 = {R"(\p{N}{1,3})", LUCE_CONTRACTIONS "|" LUCE_WORD R"(|\p{N}+|)" LUCE_TAIL};
// Kimi keeps Han characters apart: its classes are letters of each case without them.
constexpr Patterns1 kKimi = {
    R"(\p{Han}+|[^\r\n\p{L}\p{N}]?[^\p{Han}\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}]*[^\p{Han}\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}]+)" LUCE_CONTRACTIONS
    R"(?|[^\r\n\p{L}\p{N}]?[^\p{Han}\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}]+[^\p{Han}\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}]*)" LUCE_CONTRACTIONS
    R"(?|\p{N}{1,3}|)" LUCE_TAIL};

constexpr PreTokenizerRow row(std::string_view name, std::span<const std::string_view> patterns) {
  return {name, patterns, false, false, false};
}
constexpr PreTokenizerRow nfc(PreTokenizerRow row) { return row.normalize_nfc = true, row; }
constexpr PreTokenizerRow whole(PreTokenizerRow row) { return row.whole_words = true, row; }
constexpr PreTokenizerRow bos(PreTokenizerRow row) { return row.add_bos = true, row; }

constexpr auto kRows = std::to_array<PreTokenizerRow>({
    row("default", kDefault),
    nfc(row("qwen2", kQwen2)),
    nfc(row("qwen35", kQwen35)),
    nfc(row("deepseek-r1-qwen", kQwen2)),
    nfc(row("megrez", kQwen2)),
    row("stablelm2", kQwen2),
    row("hunyuan", kQwen2),
    row("solar-open", kQwen2),
    row("grok-2", kQwen2),
    bos(whole(row("llama-bpe", kLlama3))),
    bos(whole(row("llama3", kLlama3))),
    bos(whole(row("llama-v3", kLlama3))),
    bos(whole(row("falcon3", kLlama3))),
    bos(whole(row("falcon-h1", kLlama3))),
    bos(whole(row("pixtral", kLlama3))),
    bos(whole(row("midm-2.0", kLlama3))),
    bos(whole(row("lfm2", kLlama3))),
    row("dbrx", kLlama3),
    row("smaug-bpe", kLlama3),
    row("glm4", kLlama3),
    row("chatglm-bpe", kLlama3),
    row("gpt-4o", kGpt4o),
    row("llama4", kGpt4o),
    row("kanana2", kGpt4o),
    row("minimax-m2", kGpt4o),
    bos(whole(row("tekken", kTekken))),
    row("laguna", kLaguna),
    row("deepseek-llm", kDeepseekLlm),
    row("deepseek-coder", kDeepseekCoder),
    row("deepseek-v3", kDeepseek3),
    row("hunyuan-dense", kDeepseek3),
    row("joyai-llm", kDeepseek3),
    row("kimi-k2", kKimi),
    row("gpt-2", kGpt2),
    row("phi-2", kGpt2),
    row("a.x-4.0", kGpt2),
    row("gigachat", kGpt2),
    row("mellum", kGpt2),
    row("exaone4", kGpt2),
    row("jais", kGpt2),
    row("trillion", kGpt2),
    row("granite-docling", kGpt2),
    nfc(row("mpt", kGpt2)),
    nfc(row("olmo", kGpt2)),
    row("starcoder", kDigitsGpt2),
    row("refact", kDigitsGpt2),
    row("command-r", kDigitsGpt2),
    row("smollm", kDigitsGpt2),
    row("codeshell", kDigitsGpt2),
    row("exaone", kDigitsGpt2),
    row("minerva-7b", kDigitsGpt2),
    row("mellum2", kDigitsGpt2),
    row("falcon", kFalcon),
    row("bloom", kBloom),
    row("poro-chat", kBloom),
    row("gpt3-finnish", kBloom),
    row("viking", kViking),
    row("bailingmoe", kBailing),
    row("bailingmoe2", kBailing),
    row("llada-moe", kBailing),
    row("seed-coder", kSeedCoder),
    whole(row("youtu", kYoutu)),
    whole(row("minicpm5", kMiniCpm5)),
    bos(row("gemma4", kLines)),
    row("sarvam-moe", kLines),
});

}  // namespace

const PreTokenizerRow* find_pre_tokenizer(std::string_view name) {
  if (name.empty()) name = "default";
  for (const PreTokenizerRow& candidate : kRows) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

std::span<const PreTokenizerRow> all_pre_tokenizers() { return kRows; }

}  // namespace luce::text
