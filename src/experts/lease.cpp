#include "experts/lease.hpp"

#include "experts/expert_cache.hpp"

namespace luce::experts {

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    release();
    cache_ = std::exchange(other.cache_, nullptr);
    slot_ = other.slot_;
  }
  return *this;
}

void Lease::release() {
  if (ExpertCache* cache = std::exchange(cache_, nullptr)) cache->unlease(slot_);
}

}  // namespace luce::experts
