#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "text/vocabulary.hpp"

namespace luce::completion {

/// The texts of all tokens that constrained output may use, in order of their bytes, so that neighbours share what is
/// known of their beginnings. Control tokens are left out but for those given.
class TokenTable {
 public:
  TokenTable(const text::Vocabulary& vocabulary, const std::unordered_set<int32_t>& used_control_tokens);

  struct Entry {
    std::string bytes;  // not empty
    int32_t token = 0;
    size_t shared = 0;  // bytes at the beginning that are those of the entry before
  };
  const std::vector<Entry>& entries() const { return entries_; }
  /// The bytes of a token, empty if it may not be used.
  const std::string& bytes(int32_t token) const;
  size_t vocabulary_size() const { return places_.size(); }

 private:
  std::vector<Entry> entries_;
  std::vector<int32_t> places_;  // token to entry, -1: none
};

}  // namespace luce::completion
