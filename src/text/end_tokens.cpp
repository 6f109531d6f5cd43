#include "text/end_tokens.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "text/vocabulary.hpp"

namespace luce::text {
namespace {

constexpr std::array<std::string_view, 27> kEndTexts = {
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|calls|>",
    "<|flush|>",
    "<end_of_turn>",
    "<turn|>",
    "<end_of_utterance>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|eos|>",
    "<eos>",
    "<\xEF\xBD\x9C"
    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
    "<|user|>",
    "<|observation|>",
    "<|role_end|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
};

// In the harmony format of gpt-oss a reply is several messages; "<|end|>" ends one, these two end the reply.
bool is_harmony(const Vocabulary& vocabulary) {
  return vocabulary.find("<|return|>") && vocabulary.find("<|call|>") && vocabulary.find("<|channel|>");
}

}  // namespace

std::vector<int32_t> well_known_ends(const Vocabulary& vocabulary) {
  std::vector<int32_t> ids;
  const bool harmony = is_harmony(vocabulary);
  for (const std::string_view text : kEndTexts) {
    if (harmony && text == "<|end|>") continue;
    if (const auto id = vocabulary.find(text)) ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace luce::text
