#include "device/cpu/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "base/byte_size.hpp"
#include "base/error.hpp"
#include "base/memory_limit.hpp"

namespace luce::device::cpu {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;
constexpr size_t kLarge = 2 * kHugePage;
// Above this the system is asked first: it grants more memory than it has, and ends the process when that is touched.
constexpr size_t kAskFirst = size_t{64} << 20;

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

[[noreturn]] void refuse(size_t bytes, const std::string& reason) {
  fail(ErrorKind::out_of_memory, "memory: cannot allocate {}: {}; lower --ram-memory, --ctx-size or --parallel",
       base::format_bytes(static_cast<int64_t>(bytes)), reason);
}

void check_available(size_t bytes) {
  const int64_t available = base::read_memory_limit().available_bytes;
  if (static_cast<int64_t>(bytes) > available)
    refuse(bytes, "the system has " + base::format_bytes(available) + " left");
}

std::byte* map_large(size_t bytes) {
  if (bytes >= kAskFirst) check_available(bytes);
  const size_t mapped = bytes + kHugePage;
  void* start = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) refuse(bytes, std::strerror(errno));
  auto* const begin = static_cast<std::byte*>(start);
  const size_t head = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  if (head > 0) munmap(begin, head);
  munmap(begin + head + bytes, kHugePage - head);
  madvise(begin + head, bytes, MADV_HUGEPAGE);  // a wish; ordinary pages do as well
  return begin + head;
}

void touch(std::byte* data, size_t bytes, base::ThreadPool* pool) {
  const auto pages = [&](int64_t first, int64_t last, int) {
    for (int64_t i = first; i < last; ++i) {
      std::byte* const page = data + static_cast<size_t>(i) * kHugePage;
      const size_t rest = bytes - static_cast<size_t>(i) * kHugePage;
      for (size_t at = 0; at < kHugePage && at < rest; at += kPage)
        *reinterpret_cast<volatile std::byte*>(page + at) = std::byte{0};
    }
  };
  const auto count = static_cast<int64_t>(round_up(bytes, kHugePage) / kHugePage);
  if (pool != nullptr)
    pool->parallel_for(count, 4, pages);
  else
    pages(0, count, 0);
}

std::byte* allocate_small(size_t bytes) {
  void* const data = std::aligned_alloc(kAlignment, bytes);
  if (data == nullptr) refuse(bytes, "the process's memory is exhausted");
  std::memset(data, 0, bytes);
  return static_cast<std::byte*>(data);
}

}  // namespace

Block::Block(size_t bytes, base::ThreadPool* pool) {
  if (bytes > static_cast<size_t>(std::numeric_limits<int64_t>::max()) / 2) refuse(bytes, "no machine has as much");
  bytes_ = round_up(std::max(bytes, size_t{1}), kAlignment);
  if (bytes_ < kLarge) {
    data_ = allocate_small(bytes_);
  } else {
    bytes_ = round_up(bytes, kPage);
    data_ = map_large(bytes_);
    touch(data_, bytes_, pool);
  }
  backed_bytes_ = bytes_;
}

Block::~Block() {
  if (bytes_ >= kLarge)
    munmap(data_, bytes_);
  else
    std::free(data_);
}

Block::Block(Block&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      backed_bytes_(std::exchange(other.backed_bytes_, 0)) {}

Block& Block::operator=(Block&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(backed_bytes_, other.backed_bytes_);
  return *this;
}

void Block::keep(size_t bytes) {
  if (bytes_ < kLarge) return;
  const size_t kept = std::min(bytes_, round_up(bytes, kHugePage));
  if (kept < backed_bytes_) {
    madvise(data_ + kept, backed_bytes_ - kept, MADV_DONTNEED);
  } else if (kept > backed_bytes_) {
    check_available(kept - backed_bytes_);
    touch(data_ + backed_bytes_, kept - backed_bytes_, nullptr);
  }
  backed_bytes_ = kept;
}

CountedBlock::CountedBlock(Block block, Purpose purpose, std::shared_ptr<Account> account)
    : block_(std::move(block)), purpose_(purpose), account_(std::move(account)) {
  account_->add(purpose_, block_.bytes());
}

CountedBlock::~CountedBlock() { account_->subtract(purpose_, block_.backed_bytes()); }

size_t CountedBlock::keep(size_t bytes) {
  const size_t before = block_.backed_bytes();
  block_.keep(bytes);
  account_->subtract(purpose_, before);
  account_->add(purpose_, block_.backed_bytes());
  return block_.backed_bytes();
}

}  // namespace luce::device::cpu
