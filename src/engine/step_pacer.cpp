#include "engine/step_pacer.hpp"

#include <algorithm>

#include "engine/scheduler.hpp"

namespace luce::engine {

StepPacer::StepPacer(int most_rows, double target_seconds)
    : most_rows_(most_rows), target_seconds_(target_seconds), rows_(most_rows) {}

void StepPacer::record(int prompt_rows, double seconds) {
  const int halved = std::max(kChunkGrid, rows_ / 2 / kChunkGrid * kChunkGrid);
  if (seconds > target_seconds_ && prompt_rows > halved) {
    rows_ = halved;
  } else if (seconds < target_seconds_ / 4 && prompt_rows > rows_ / 2) {
    rows_ = std::min(most_rows_, rows_ * 2);
  }
}

}  // namespace luce::engine
