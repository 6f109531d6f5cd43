#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/error.hpp"
#include "device/device.hpp"

namespace luce::experts {

/// Plain memory; the packed layout is the file's, rounded up to 64 bytes. Runs no steps.
class FakeDevice final : public device::Device {
 public:
  explicit FakeDevice(size_t limit_bytes = SIZE_MAX) : limit_bytes_(limit_bytes) {}

  std::string description() const override { return "fake device"; }
  std::unique_ptr<device::Allocation> allocate(size_t bytes, device::Purpose purpose) override {
    if (bytes > limit_bytes_ - total()) fail(ErrorKind::out_of_memory, "fake device: {} bytes are too many", bytes);
    return std::make_unique<Memory>(bytes, allocated_[static_cast<size_t>(purpose)], growth_limit_);
  }
  size_t allocated_bytes(device::Purpose purpose) const override { return allocated_[static_cast<size_t>(purpose)]; }
  void write(device::Address to, std::span<const std::byte> from) override {
    std::memcpy(reinterpret_cast<void*>(to), from.data(), from.size());
  }
  void read(device::Address from, std::span<std::byte> to) override {
    std::memcpy(to.data(), reinterpret_cast<const void*>(from), to.size());
  }
  bool supports(tensor::Format format, int64_t) const override { return tensor::info(format).computes; }
  size_t packed_bytes(tensor::Format format, int64_t rows, int64_t width) const override {
    return (static_cast<size_t>(tensor::packed_bytes(format, rows * width)) + 63) / 64 * 64;
  }
  void pack(tensor::Format, const tensor::Shape&, std::span<const std::byte> from, device::Address to) override {
    write(to, from);
  }
  device::Stream& begin_step() override {
    LUCE_CHECK(false, "the fake device runs no steps");
    std::abort();
  }

  /// No allocation grows again beyond so many bytes.
  void limit_growth(size_t bytes) { growth_limit_ = bytes; }
  size_t total() const {
    size_t sum = 0;
    for (const auto& bytes : allocated_) sum += bytes;
    return sum;
  }

 private:
  class Memory final : public device::Allocation {
   public:
    Memory(size_t bytes, std::atomic<size_t>& account, const std::atomic<size_t>& growth_limit)
        : data_(bytes), account_(account), growth_limit_(growth_limit) {
      account_ += bytes;
    }
    ~Memory() override { account_ -= kept_; }
    device::Address address() const override { return reinterpret_cast<device::Address>(data_.data()); }
    size_t bytes() const override { return data_.size(); }
    size_t keep(size_t bytes) override {
      const size_t kept = std::min(bytes, data_.size());
      if (kept > kept_ && kept > growth_limit_) fail(ErrorKind::out_of_memory, "fake device: no memory for {}", kept);
      if (kept < kept_) std::memset(data_.data() + kept, 0xdd, kept_ - kept);  // whoever still reads it will notice
      account_ += kept;
      account_ -= std::exchange(kept_, kept);
      return kept;
    }

   private:
    std::vector<std::byte> data_;
    size_t kept_ = data_.size();
    std::atomic<size_t>& account_;
    const std::atomic<size_t>& growth_limit_;
  };

  size_t limit_bytes_;
  std::atomic<size_t> growth_limit_ = SIZE_MAX;
  std::array<std::atomic<size_t>, 6> allocated_{};
};

}  // namespace luce::experts
