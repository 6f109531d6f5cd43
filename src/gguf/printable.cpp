#include "gguf/printable.hpp"

#include "base/format.hpp"

namespace luce::gguf {

std::string printable(std::string_view text, size_t most) {
  std::string result;
  for (const char letter : text.substr(0, most)) {
    const auto code = static_cast<unsigned char>(letter);
    if (code >= 0x20 && code < 0x7f) {
      result += letter;
    } else {
      result += fmt::format("\\x{:02x}", code);
    }
  }
  if (text.size() > most) result += "...";
  return result;
}

}  // namespace luce::gguf
