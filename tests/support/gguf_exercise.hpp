#pragma once

#include <string>

namespace luce::support {

/// Opens a GGUF file and touches all that it holds: every key by every accessor, every byte of every tensor, the first
/// block of each dequantised. Gives the error's text, or nothing if the file was accepted. Only luce::Error is caught.
std::string exercise_gguf(const std::string& path);

}  // namespace luce::support
