#include "engine/snapshot_store.hpp"

#include <limits>
#include <utility>

namespace luce::engine {

SnapshotStore::SnapshotStore(size_t limit_bytes, std::pmr::memory_resource* memory)
    : limit_bytes_(limit_bytes), memory_(memory) {}

SnapshotStore::Buffer SnapshotStore::remove(Entries::iterator entry) {
  Buffer bytes = std::move(entry->bytes);
  held_bytes_ -= bytes.size();
  by_key_.erase(entry->key);
  entries_.erase(entry);
  return bytes;
}

// Gives back a buffer of just this size if one became free: touching fresh memory is dear.
SnapshotStore::Buffer SnapshotStore::make_room(size_t bytes) {
  Buffer reusable(memory_);
  while (held_bytes_ + bytes > limit_bytes_) {
    reusable = remove(std::prev(entries_.end()));
    if (reusable.size() != bytes) reusable = Buffer(memory_);
  }
  return reusable;
}

std::span<std::byte> SnapshotStore::put(const SnapshotKey& key, size_t bytes) {
  if (bytes > limit_bytes_ || bytes == 0) return {};
  if (const auto old = by_key_.find(key); old != by_key_.end()) remove(old->second);
  Buffer buffer = make_room(bytes);
  if (buffer.size() != bytes) buffer = Buffer(bytes, memory_);
  entries_.push_front({.key = key, .bytes = std::move(buffer)});
  by_key_[key] = entries_.begin();
  held_bytes_ += bytes;
  return entries_.front().bytes;
}

std::span<const std::byte> SnapshotStore::use(const SnapshotKey& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return {};
  entries_.splice(entries_.begin(), entries_, found->second);
  return entries_.front().bytes;
}

std::vector<int> SnapshotStore::positions(int slot) const {
  std::vector<int> found;
  for (auto at = by_key_.lower_bound({.slot = slot, .position = 0}); at != by_key_.end() && at->first.slot == slot;
       ++at)
    found.push_back(at->first.position);
  return found;
}

void SnapshotStore::drop_above(int slot, int position) {
  for (const int held : positions(slot))
    if (held > position) remove(by_key_.at({.slot = slot, .position = held}));
}

}  // namespace luce::engine
