#pragma once

#include <cstdint>
#include <vector>

namespace luce::text {

class Vocabulary;

/// Tokens whose text is known to end a turn, whatever type the file gives them. Files often name only one of them.
std::vector<int32_t> well_known_ends(const Vocabulary& vocabulary);

}  // namespace luce::text
