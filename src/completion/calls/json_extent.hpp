#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace luce::completion {

/// Finds where a JSON object or array that arrives in pieces ends, by its brackets and strings alone.
class JsonExtent {
 public:
  /// Reads up to the closing bracket; returns the bytes of `text` that belong to the value.
  size_t read(std::string_view text);
  bool complete() const { return complete_; }
  /// What would close the value where it stands.
  bool in_string() const { return in_string_; }
  std::string_view open_brackets() const { return brackets_; }

 private:
  void read_bracket(char c);

  std::string brackets_;  // that are open
  bool in_string_ = false;
  bool escaped_ = false;
  bool complete_ = false;
};

}  // namespace luce::completion
