#pragma once

#include <cstdint>
#include <utility>

namespace luce::experts {

class ExpertCache;

/// loading: chosen for an expert whose bytes are on their way. failed: they did not come; freed with its last lease.
enum class SlotState : uint8_t { free, loading, resident, failed };

/// A pin on a slot: while it lives, the slot is neither evicted nor freed. Move-only; must not outlive the cache.
class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept : cache_(std::exchange(other.cache_, nullptr)), slot_(other.slot_) {}
  Lease& operator=(Lease&& other) noexcept;
  ~Lease() { release(); }

  void release();
  bool held() const { return cache_ != nullptr; }
  int slot() const { return slot_; }

 private:
  friend class ExpertCache;
  Lease(ExpertCache* cache, int slot) : cache_(cache), slot_(slot) {}

  ExpertCache* cache_ = nullptr;
  int slot_ = -1;
};

}  // namespace luce::experts
