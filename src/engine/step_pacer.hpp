#pragma once

namespace luce::engine {

/// Keeps steps with prompt rows near a target time, so that cancelling, stopping and decoding never wait long: halves
/// the rows after a step that took longer and doubles them after one that took less than a quarter.
class StepPacer {
 public:
  /// `most_rows` is a multiple of the chunk grid.
  StepPacer(int most_rows, double target_seconds);

  int prompt_rows() const { return rows_; }
  void record(int prompt_rows, double seconds);

 private:
  int most_rows_;
  double target_seconds_;
  int rows_;
};

}  // namespace luce::engine
