#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace luce::text {

class Vocabulary;

struct SpecialMatch {
  int32_t id = -1;
  size_t size_bytes = 0;
};

/// Finds tokens that are recognised by their text before any merging: control and user-defined ones.
class SpecialMatcher {
 public:
  /// Which of them count: `everything` in text that a template or a trusted caller wrote, `harmless` in content, where
  /// only runs of blanks and HTML tags that some vocabularies define are taken, never anything that steers a model.
  enum class Scope : uint8_t { everything, harmless };

  SpecialMatcher(const Vocabulary& vocabulary, Scope scope);

  /// The longest token that begins at `at` and ends within the text.
  std::optional<SpecialMatch> match(std::string_view text, size_t at) const;

 private:
  void insert(std::string_view text, int32_t id);

  // A trie: children by (node << 8 | byte), node 0 is the root.
  std::unordered_map<uint64_t, uint32_t> children_;
  std::vector<int32_t> id_of_node_ = {-1};
  std::array<bool, 256> begins_{};
};

}  // namespace luce::text
