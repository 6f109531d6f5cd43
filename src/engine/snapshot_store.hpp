#pragma once

#include <compare>
#include <cstddef>
#include <list>
#include <map>
#include <memory_resource>
#include <span>
#include <vector>

namespace luce::engine {

/// Which state a snapshot holds: that of a sequence slot after its first `position` tokens.
struct SnapshotKey {
  int slot = 0;
  int position = 0;
  auto operator<=>(const SnapshotKey&) const = default;
};

/// Snapshots within a number of bytes; the least recently used ones leave first. The bytes held never go above the
/// limit, not even for a moment.
class SnapshotStore {
 public:
  explicit SnapshotStore(size_t limit_bytes, std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

  /// Room for a new snapshot, or an empty span if it is larger than the limit.
  std::span<std::byte> put(const SnapshotKey& key, size_t bytes);
  /// Marks the snapshot as used; an empty span if it is not held.
  std::span<const std::byte> use(const SnapshotKey& key);
  /// Positions held of one slot, ascending.
  std::vector<int> positions(int slot) const;
  /// Drops the slot's snapshots above a position.
  void drop_above(int slot, int position);

  size_t held_bytes() const { return held_bytes_; }

 private:
  using Buffer = std::pmr::vector<std::byte>;
  struct Entry {
    SnapshotKey key;
    Buffer bytes;
  };
  using Entries = std::list<Entry>;  // most recently used first

  Buffer remove(Entries::iterator entry);
  Buffer make_room(size_t bytes);

  size_t limit_bytes_;
  size_t held_bytes_ = 0;
  std::pmr::memory_resource* memory_;
  Entries entries_;
  std::map<SnapshotKey, Entries::iterator> by_key_;
};

}  // namespace luce::engine
