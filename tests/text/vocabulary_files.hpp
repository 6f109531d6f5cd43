#pragma once

#include <string>

#include "text/tokenizer.hpp"

namespace luce::text {

/// The tokenizer of a GGUF file below tests/golden, loaded once per test program.
const Tokenizer& golden_tokenizer(const std::string& name);

}  // namespace luce::text
