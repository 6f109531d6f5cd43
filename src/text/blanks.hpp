#pragma once

#include <string>
#include <string_view>

namespace luce::text {

/// U+2581, which some vocabularies write for a blank.
constexpr std::string_view kBlankMark = "\xE2\x96\x81";

/// Blanks as the mark, and back.
std::string mark_blanks(std::string_view text);
std::string unmark_blanks(std::string_view text);

/// True if a mark follows another character in the text, so that a token like this spans two words.
bool spans_words(std::string_view text);
/// Bytes up to the next place where a mark follows another character, or to the end.
size_t word_size(std::string_view text);

}  // namespace luce::text
