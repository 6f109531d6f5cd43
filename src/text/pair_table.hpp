#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace luce::text {

/// What two neighbouring symbols merge into; a smaller rank goes first.
struct Merge {
  uint32_t rank = 0;
  uint32_t symbol = 0;
};

/// Merges by pair of symbols: an open-addressed table, since each character of a text asks it several times.
class PairTable {
 public:
  explicit PairTable(size_t pairs);

  /// Keeps the first merge given for a pair.
  void insert(uint32_t left, uint32_t right, Merge merge);
  /// Null if the pair does not merge. Pairs of two all-ones symbols are not allowed.
  const Merge* find(uint32_t left, uint32_t right) const;

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};
  struct Entry {
    uint64_t key = kFree;
    Merge merge;
  };

  static uint64_t key_of(uint32_t left, uint32_t right) { return (static_cast<uint64_t>(left) << 32) | right; }
  size_t slot_of(uint64_t key) const { return static_cast<size_t>((key * 0x9E3779B97F4A7C15ull) >> shift_); }

  unsigned shift_;
  std::vector<Entry> entries_;
};

inline PairTable::PairTable(size_t pairs) {
  unsigned bits = 4;
  while ((size_t{1} << bits) < pairs * 2) ++bits;
  shift_ = 64 - bits;
  entries_.resize(size_t{1} << bits);
}

inline void PairTable::insert(uint32_t left, uint32_t right, Merge merge) {
  const uint64_t key = key_of(left, right);
  size_t slot = slot_of(key);
  while (entries_[slot].key != kFree) {
    if (entries_[slot].key == key) return;
    slot = (slot + 1) & (entries_.size() - 1);
  }
  entries_[slot] = {key, merge};
}

inline const Merge* PairTable::find(uint32_t left, uint32_t right) const {
  const uint64_t key = key_of(left, right);
  for (size_t slot = slot_of(key); entries_[slot].key != kFree; slot = (slot + 1) & (entries_.size() - 1)) {
    if (entries_[slot].key == key) return &entries_[slot].merge;
  }
  return nullptr;
}

}  // namespace luce::text
