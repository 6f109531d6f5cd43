#pragma once

#include <string>

namespace luce::support {

/// Path of a file below tests/golden, for example golden_path("dequant/Q4_K.bin").
std::string golden_path(const std::string& name);

/// Path of a file below the checkout, for example source_path("models/demo-q4_k_m.gguf").
std::string source_path(const std::string& name);

}  // namespace luce::support
