#pragma once

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "experts/expert_source.hpp"

namespace luce::experts {

/// Experts whose every 4-byte word is layer * 1000 + expert. Fetches can be made to fail, or held back.
class FakeSource final : public ExpertSource {
 public:
  struct Layer {
    int experts = 0;
    size_t matrix_bytes = 64;  // of each of gate, up and down
  };

  explicit FakeSource(const std::vector<Layer>& layers) {
    for (const Layer& layer : layers) {
      shapes_.push_back({layer.experts, 8, 4});
      layouts_.push_back({layer.matrix_bytes, 2 * layer.matrix_bytes, 3 * layer.matrix_bytes});
    }
  }

  int layers() const override { return static_cast<int>(shapes_.size()); }
  const device::ExpertShape& shape(int layer) const override { return shapes_[static_cast<size_t>(layer)]; }
  const SlotLayout& layout(int layer) const override { return layouts_[static_cast<size_t>(layer)]; }
  size_t fetch_bytes(int layer) const override { return layout(layer).slot_bytes - 1; }
  size_t staging_bytes() const override { return 16; }

  void fetch(int layer, int32_t expert, device::Address to, std::span<std::byte> staging) const override {
    std::unique_lock lock(mutex_);
    ++running_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !held_back_; });
    --running_;
    ++fetched_;
    if (failing_.contains({layer, expert})) fail(ErrorKind::io, "cannot read expert {} of layer {}", expert, layer);
    lock.unlock();
    std::memset(staging.data(), 0, staging.size());
    auto* words = reinterpret_cast<uint32_t*>(to);
    for (size_t i = 0; i < layout(layer).slot_bytes / 4; ++i) words[i] = word(layer, expert);
  }

  static uint32_t word(int layer, int32_t expert) { return static_cast<uint32_t>(layer * 1000 + expert); }

  void set_failing(std::set<std::pair<int, int32_t>> failing) {
    const std::lock_guard lock(mutex_);
    failing_ = std::move(failing);
  }
  void hold_back(bool on) {
    const std::lock_guard lock(mutex_);
    held_back_ = on;
    changed_.notify_all();
  }
  void wait_for_running(int fetches) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ >= fetches; });
  }
  int fetched() const {
    const std::lock_guard lock(mutex_);
    return fetched_;
  }

 private:
  std::vector<device::ExpertShape> shapes_;
  std::vector<SlotLayout> layouts_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int running_ = 0, fetched_ = 0;
  std::set<std::pair<int, int32_t>> failing_;
  bool held_back_ = false;
};

}  // namespace luce::experts
