#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace luce::gguf {

/// Text from a file made fit for a message: control bytes and bytes above ASCII as \xNN, cut with "..." after `most`.
std::string printable(std::string_view text, size_t most = 80);

}  // namespace luce::gguf
