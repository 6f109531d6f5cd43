#pragma once

#include <cstddef>
#include <cstdint>

namespace luce::support {

/// How often a mutation test mutates: `usual`, or the number in LUCE_MUTATIONS, so that one command runs them all at
/// length.
size_t mutation_rounds(size_t usual);

/// By how much resident memory may grow meanwhile. The address sanitizer keeps 256 MiB of what was freed, and more for
/// its own books.
#ifdef __SANITIZE_ADDRESS__
constexpr int64_t kMostMutationBytes = int64_t{1} << 30;
#else
constexpr int64_t kMostMutationBytes = int64_t{256} << 20;
#endif

}  // namespace luce::support
