#include "support/golden_path.hpp"

namespace luce::support {

std::string golden_path(const std::string& name) { return source_path("tests/golden/" + name); }

std::string source_path(const std::string& name) { return std::string(LUCE_SOURCE_DIR) + "/" + name; }

}  // namespace luce::support
