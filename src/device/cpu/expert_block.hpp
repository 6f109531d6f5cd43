#pragma once

#include <span>
#include <vector>

#include "base/function_ref.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/matrix.hpp"
#include "device/cpu/quantised_rows.hpp"
#include "device/operations.hpp"

namespace luce::device::cpu {

/// The routed experts of one layer. Rows are grouped by expert, so that an expert's weights are read once for all of
/// them; each expert of each row writes a row of its own, so that waves change no result.
class ExpertRunner {
 public:
  /// Asks the service for the experts of this routing.
  void start(const ExpertBlock& op);
  /// Computes all waves and sums the rows in router order.
  void finish(const Machine& machine, const ExpertBlock& op);
  /// Forgets a dispatch that an error left open.
  void reset() { dispatch_ = nullptr; }

 private:
  /// An expert of the wave with the pairs (row, choice) that picked it: [begin, end) of the sorted lists.
  struct Job {
    PlacedExpert placed;
    int64_t begin = 0, end = 0;
  };

  using PieceBody = base::FunctionRef<void(const Job&, RowRange, const Worker&)>;

  void sort_pairs(const ExpertBlock& op, int experts);
  int64_t collect_jobs(std::span<const PlacedExpert> wave);
  /// Runs body over all experts of the wave and all pieces of a matrix of this shape.
  void run_pieces(const Machine& machine, const Matrix& shape, PieceBody body) const;
  void prepare_blocks(const Machine& machine, const ExpertBlock& op);
  void gate_and_up(const Machine& machine, const ExpertShape& shape) const;
  void activate(const Machine& machine, RowRange pairs, RowRange range, float* const* up) const;
  void down(const Machine& machine, const ExpertShape& shape) const;
  void sum_parts(const Machine& machine, const ExpertBlock& op) const;

  ExpertService* service_ = nullptr;
  Dispatch* dispatch_ = nullptr;
  std::vector<int32_t> ids_;                      // [rows, top_k], in router order
  std::vector<float> weights_;                    // [rows, top_k]
  std::vector<int64_t> first_pair_;               // [experts + 1], into the lists below
  std::vector<const float*> x_;                   // by expert, then by row: the pair's input,
  std::vector<float*> hidden_;                    // its row of `hidden`,
  std::vector<float*> parts_;                     // its row of `parts`
  std::vector<int64_t> pairs_;                    // and its number in [rows, top_k]
  std::vector<const ActivationBlock*> x_blocks_;  // by expert, the pair's input in 8 bits,
  std::vector<ActivationBlock*> hidden_blocks_;   // and its hidden row; empty where matrices take f32
  std::vector<const float*> x_rows_;              // [rows]
  QuantisedRows quantised_x_, quantised_hidden_;
  std::vector<Job> jobs_;
};

}  // namespace luce::device::cpu
