#include "completion/calls/json_extent.hpp"

namespace luce::completion {

void JsonExtent::read_bracket(char c) {
  if (c == '{' || c == '[') brackets_.push_back(c);
  if (c != '}' && c != ']') return;
  if (!brackets_.empty()) brackets_.pop_back();
  complete_ = brackets_.empty();
}

size_t JsonExtent::read(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (escaped_) {
      escaped_ = false;
    } else if (in_string_) {
      escaped_ = c == '\\';
      in_string_ = c != '"';
    } else if (c == '"') {
      in_string_ = true;
    } else {
      read_bracket(c);
      if (complete_) return i + 1;
    }
  }
  return text.size();
}

}  // namespace luce::completion
