#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "device/cpu/kernels/kernel_table.hpp"
#include "device/cpu/memory.hpp"

namespace luce::device::cpu {

/// What a worker's scratch floats are for; two uses never share memory.
enum class Use { lines, rows, scores, blend, kernel };

/// Scratch that grows to the largest need once and is then reused. Each worker touches only its own.
class Workspace {
 public:
  explicit Workspace(int workers) : blocks_(static_cast<size_t>(workers)) {}

  /// At least `count` floats, their content unspecified; valid until the worker's next call for the same use.
  float* floats(int worker, Use use, int64_t count) { return reinterpret_cast<float*>(bytes(worker, use, count * 4)); }

 private:
  std::byte* bytes(int worker, Use use, int64_t count) {
    Block& block = blocks_[static_cast<size_t>(worker)][static_cast<size_t>(use)];
    if (block.bytes() < static_cast<size_t>(count)) block = Block(static_cast<size_t>(count));
    return block.data();
  }

  std::vector<std::array<Block, 5>> blocks_;
};

/// What ops run on.
struct Machine {
  base::ThreadPool& pool;
  const KernelTable& kernels;
  Workspace& workspace;
};

/// One of the machine's threads, at a piece of work.
struct Worker {
  const Machine& machine;
  int index = 0;

  float* floats(Use use, int64_t count) const { return machine.workspace.floats(index, use, count); }
};

/// Items per piece, so that a piece does about 32 Ki units of work (multiply-adds or values).
constexpr int64_t grain_for(int64_t work_per_item) {
  constexpr int64_t kPieceWork = 32768;
  return work_per_item >= kPieceWork ? 1 : kPieceWork / (work_per_item > 0 ? work_per_item : 1);
}

}  // namespace luce::device::cpu
