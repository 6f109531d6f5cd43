#pragma once

#include <cstddef>

namespace luce::support {

/// How often a mutation test mutates: `usual`, or the number in LUCE_MUTATIONS, so that one command runs them all at
/// length.
size_t mutation_rounds(size_t usual);

}  // namespace luce::support
