#include "experts/slot_budget.hpp"

#include <algorithm>
#include <numeric>

namespace luce::experts {
namespace {

constexpr size_t kBounceBytes = size_t{64} << 10;

}  // namespace

SlotBudget::SlotBudget(ExpertTier& tier, std::vector<int> planned)
    : tier_(tier), planned_(std::move(planned)), bounce_(kBounceBytes) {
  const SlotPool& pool = tier_.pool();
  for (int i = 0; i < pool.size_classes(); ++i) {
    SizeClass found;
    for (size_t layer = 0; layer < planned_.size(); ++layer) {
      if (planned_[layer] == 0 || tier_.source().layout(static_cast<int>(layer)).slot_bytes != pool.slot_bytes(i))
        continue;
      found.layers.push_back(static_cast<int>(layer));
      found.planned += planned_[layer];
    }
    classes_.push_back(std::move(found));
  }
}

void SlotBudget::resize(size_t bytes) {
  const std::lock_guard one_at_a_time(resizing_);
  const SlotPool& pool = tier_.pool();
  double planned_bytes = 0;
  for (int i = 0; i < pool.size_classes(); ++i)
    planned_bytes += static_cast<double>(pool.slot_bytes(i)) * classes_[static_cast<size_t>(i)].planned;
  if (planned_bytes == 0) return;
  const double part = std::min(1.0, static_cast<double>(bytes) / planned_bytes);
  for (int i = 0; i < pool.size_classes(); ++i) {
    const SizeClass& each = classes_[static_cast<size_t>(i)];
    // A hair more, so that the bytes of so many slots give so many slots again.
    const int wanted = static_cast<int>(part * each.planned + 1e-6);
    const int slots = std::max(wanted, static_cast<int>(each.layers.size()));
    if (slots < pool.kept(i)) shrink(i, slots);
    if (slots > pool.kept(i)) grow(i, slots);
  }
}

void SlotBudget::shrink(int size_class, int slots) {
  SlotPool& pool = tier_.pool();
  for (int left = pool.kept(size_class) - slots; left > 0; --left) {
    const auto lock = tier_.lock();  // let go between slots, so that steps can go on
    if (!retire_last(lock, size_class)) return;
    pool.keep(size_class, pool.kept(size_class) - 1);
  }
}

void SlotBudget::grow(int size_class, int slots) {
  SlotPool& pool = tier_.pool();
  for (int i = pool.kept(size_class); i < slots; ++i) {
    const auto lock = tier_.lock();
    pool.keep(size_class, i + 1);
    const std::vector<int>& layers = classes_[static_cast<size_t>(size_class)].layers;
    const int layer =
        *std::min_element(layers.begin(), layers.end(), [&](int a, int b) { return share(lock, a) < share(lock, b); });
    tier_.cache(lock).give_slot(layer, pool.slots(size_class)[static_cast<size_t>(i)]);
  }
}

bool SlotBudget::retire_last(const Lock& lock, int size_class) {
  ExpertCache& cache = tier_.cache(lock);
  const SlotPool& pool = tier_.pool();
  const int last = pool.slots(size_class)[static_cast<size_t>(pool.kept(size_class) - 1)];
  if (!cache.can_relocate(last)) return false;
  const auto freed = free_a_slot(lock, size_class);
  if (!freed) return false;
  if (*freed != last) move(lock, last, *freed);
  return true;
}

/// A slot of the layer that has most of what it was planned, of those that can spare one.
std::optional<int> SlotBudget::free_a_slot(const Lock& lock, int size_class) {
  std::vector<int> layers = classes_[static_cast<size_t>(size_class)].layers;
  std::stable_sort(layers.begin(), layers.end(), [&](int a, int b) { return share(lock, a) > share(lock, b); });
  for (const int layer : layers)
    if (const auto slot = tier_.cache(lock).take_slot(layer)) return slot;
  return std::nullopt;
}

void SlotBudget::move(const Lock& lock, int from, int to) {
  ExpertCache& cache = tier_.cache(lock);
  const size_t bytes = tier_.source().layout(cache.layer_of(from)).slot_bytes;
  const bool has_bytes = cache.state(from) == SlotState::resident;
  cache.relocate(from, to);
  for (size_t at = 0; has_bytes && at < bytes; at += bounce_.size()) {
    const std::span part(bounce_.data(), std::min(bounce_.size(), bytes - at));
    tier_.device().read(tier_.address(from) + at, part);
    tier_.device().write(tier_.address(to) + at, part);
  }
}

double SlotBudget::share(const Lock& lock, int layer) {
  return static_cast<double>(tier_.cache(lock).slots(layer)) / planned_[static_cast<size_t>(layer)];
}

}  // namespace luce::experts
