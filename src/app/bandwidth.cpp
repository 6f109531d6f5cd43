#include "app/bandwidth.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "base/thread_pool.hpp"

namespace luce::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPasses = 7;
constexpr int64_t kPieceBytes = int64_t{1} << 20;
constexpr size_t kReadBytes = size_t{512} << 10;
constexpr int kReads = 24;

/// Anonymous memory that is unmapped at once when it goes, so that no later peak holds it.
class Mapping {
 public:
  explicit Mapping(size_t bytes)
      : bytes_(bytes), base_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (base_ == MAP_FAILED) fail(ErrorKind::out_of_memory, "cannot take {} bytes to measure the memory", bytes);
    std::memset(base_, 1, bytes);
  }
  ~Mapping() { munmap(base_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const uint64_t* words() const { return static_cast<const uint64_t*>(base_); }

 private:
  size_t bytes_;
  void* base_;
};

/// Eight sums side by side, so that additions do not wait for each other.
uint64_t sum_words(const uint64_t* words, int64_t count) {
  uint64_t sums[8] = {};
  for (int64_t i = 0; i + 8 <= count; i += 8)
    for (int lane = 0; lane < 8; ++lane) sums[lane] += words[i + lane];
  uint64_t sum = 0;
  for (const uint64_t each : sums) sum += each;
  return sum;
}

}  // namespace

double measure_memory_bandwidth(size_t buffer_bytes, int threads) {
  const Mapping memory(buffer_bytes);
  base::ThreadPool pool(threads);
  std::atomic<uint64_t> sink = 0;
  std::vector<double> speeds;
  const auto pieces = static_cast<int64_t>(buffer_bytes) / kPieceBytes;
  constexpr int64_t kPieceWords = kPieceBytes / 8;
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto begin = Clock::now();
    pool.parallel_for(pieces, 1, [&](int64_t first, int64_t last, int) {
      sink += sum_words(memory.words() + first * kPieceWords, (last - first) * kPieceWords);
    });
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    speeds.push_back(static_cast<double>(pieces * kPieceBytes) / seconds);
  }
  std::nth_element(speeds.begin(), speeds.begin() + kPasses / 2, speeds.end());
  return speeds[kPasses / 2];
}

double measure_file_bandwidth(const gguf::File& file) {
  const base::FileHandle& part = file.part(0);
  std::vector<std::byte> buffer(std::min<size_t>(kReadBytes, part.size_bytes()));
  std::mt19937_64 random(1);
  std::uniform_int_distribution<uint64_t> offset(0, part.size_bytes() - buffer.size());
  const auto begin = Clock::now();
  for (int i = 0; i < kReads; ++i) part.read_exact(offset(random), buffer);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return static_cast<double>(buffer.size()) * kReads / seconds;
}

}  // namespace luce::app
