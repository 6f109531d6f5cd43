#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace luce::base {

void check_failed(const char* condition, const char* message, const char* file, int line) {
  std::fprintf(stderr, "luce-spark: broken invariant at %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace luce::base
