#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "base/thread_pool.hpp"
#include "device/device.hpp"

namespace luce::device::cpu {

constexpr size_t kAlignment = 64;

/// Zeroed memory, aligned to 64 bytes; large blocks lie on 2 MiB borders and ask for huge pages.
class Block {
 public:
  Block() = default;
  /// Throws Error{out_of_memory}. With a pool, large blocks are touched by all of its threads.
  explicit Block(size_t bytes, base::ThreadPool* pool = nullptr);
  ~Block();
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  /// Bytes that have memory; the rest are addresses only.
  size_t backed_bytes() const { return backed_bytes_; }
  /// As Allocation::keep; whole huge pages go, and a small block stays as it is.
  void keep(size_t bytes);

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  size_t backed_bytes_ = 0;
};

/// Bytes in use by purpose; shared by a device and its allocations, whichever dies last.
class Account {
 public:
  void add(Purpose purpose, size_t bytes) { used_[index(purpose)] += bytes; }
  void subtract(Purpose purpose, size_t bytes) { used_[index(purpose)] -= bytes; }
  size_t used(Purpose purpose) const { return used_[index(purpose)]; }

 private:
  static size_t index(Purpose purpose) { return static_cast<size_t>(purpose); }
  std::array<std::atomic<size_t>, 6> used_{};
};

/// A block that is counted for as long as it lives.
class CountedBlock final : public Allocation {
 public:
  CountedBlock(Block block, Purpose purpose, std::shared_ptr<Account> account);
  ~CountedBlock() override;

  Address address() const override { return reinterpret_cast<Address>(block_.data()); }
  size_t bytes() const override { return block_.bytes(); }
  size_t keep(size_t bytes) override;

 private:
  Block block_;
  Purpose purpose_;
  std::shared_ptr<Account> account_;
};

}  // namespace luce::device::cpu
