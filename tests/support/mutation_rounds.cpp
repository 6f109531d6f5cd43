#include "support/mutation_rounds.hpp"

#include <cstdlib>

namespace luce::support {

size_t mutation_rounds(size_t usual) {
  const char* set = std::getenv("LUCE_MUTATIONS");
  return set == nullptr ? usual : static_cast<size_t>(std::strtoull(set, nullptr, 10));
}

}  // namespace luce::support
