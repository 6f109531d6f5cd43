#include "device/cpu/expert_block.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "device/cpu/lines.hpp"

namespace luce::device::cpu {
namespace {

constexpr int64_t kPairsAtOnce = 64;  // bounds the scratch for `up`

// Rows of an expert's matrix that one piece of work takes, and the pieces of one expert.
struct Pieces {
  int64_t rows, count;

  Pieces(const Machine& machine, const Matrix& matrix, int64_t jobs, int64_t pairs) {
    Matrix all = matrix;  // the whole wave shares the threads
    all.rows *= jobs;
    const int64_t wanted = rows_per_piece(machine, all, std::max<int64_t>(1, pairs / jobs));
    // Whole blocks of activations, so that a piece of the hidden row can be quantised where it was computed.
    rows = std::min((wanted + kActivationBlock - 1) / kActivationBlock * kActivationBlock, matrix.rows);
    count = (matrix.rows + rows - 1) / rows;
  }
  RowRange range(int64_t piece, int64_t matrix_rows) const {
    return {piece * rows, std::min(matrix_rows, (piece + 1) * rows)};
  }
};

template <typename Value>
void copy_lines(const Lines& lines, std::vector<Value>& to) {
  to.resize(static_cast<size_t>(lines.count() * lines.width()));
  for (int64_t row = 0; row < lines.count(); ++row)
    std::copy_n(reinterpret_cast<const Value*>(lines[row]), lines.width(), to.data() + row * lines.width());
}

}  // namespace

void ExpertRunner::start(const ExpertBlock& op) {
  copy_lines(Lines(op.ids), ids_);
  copy_lines(Lines(op.weights), weights_);
  service_ = op.service;
  dispatch_ = nullptr;
  sort_pairs(op, service_->shape(op.layer).experts);
  if (ids_.empty()) return;
  dispatch_ = &service_->start({.layer = op.layer,
                                .rows = static_cast<int>(op.ids.shape[0]),
                                .top_k = static_cast<int>(op.ids.shape[1]),
                                .ids = ids_.data(),
                                .weights = weights_.data(),
                                .classes = op.classes});
}

void ExpertRunner::sort_pairs(const ExpertBlock& op, int experts) {
  first_pair_.assign(static_cast<size_t>(experts) + 1, 0);
  for (const int32_t id : ids_) {
    if (id == kNoExpert) continue;
    LUCE_CHECK(id >= 0 && id < experts, "a routed expert outside the layer");
    ++first_pair_[static_cast<size_t>(id) + 1];
  }
  for (size_t e = 0; e < static_cast<size_t>(experts); ++e) first_pair_[e + 1] += first_pair_[e];
  x_.resize(ids_.size());
  hidden_.resize(ids_.size());
  parts_.resize(ids_.size());
  pairs_.assign(ids_.size(), 0);
  const Lines x(op.x), hidden(op.hidden), parts(op.parts);
  const int64_t top_k = op.ids.shape[1];
  for (size_t pair = 0; pair < ids_.size(); ++pair) {
    if (ids_[pair] == kNoExpert) continue;
    const auto place = static_cast<size_t>(first_pair_[static_cast<size_t>(ids_[pair])]++);
    const auto line = static_cast<int64_t>(pair);
    x_[place] = x[line / top_k];
    hidden_[place] = hidden[line];
    parts_[place] = parts[line];
    pairs_[place] = line;
  }
  // Placing moved each start to its end, which is the next expert's start.
  std::rotate(first_pair_.begin(), first_pair_.end() - 1, first_pair_.end());
  first_pair_.front() = 0;
}

int64_t ExpertRunner::collect_jobs(std::span<const PlacedExpert> wave) {
  jobs_.clear();
  int64_t pairs = 0;
  for (const PlacedExpert& placed : wave) {
    const auto e = static_cast<size_t>(placed.expert);
    LUCE_CHECK(placed.expert >= 0 && e + 1 < first_pair_.size(), "a placed expert outside the layer");
    const Job job{placed, first_pair_[e], first_pair_[e + 1]};
    if (job.end > job.begin) jobs_.push_back(job);
    pairs += job.end - job.begin;
  }
  return pairs;
}

void ExpertRunner::run_pieces(const Machine& machine, const Matrix& shape, PieceBody body) const {
  int64_t pairs = 0;
  for (const Job& job : jobs_) pairs += job.end - job.begin;
  const Pieces pieces(machine, shape, static_cast<int64_t>(jobs_.size()), pairs);
  const int64_t count = static_cast<int64_t>(jobs_.size()) * pieces.count;
  machine.pool.parallel_for(count, 1, [&](int64_t begin, int64_t end, int index) {
    for (int64_t item = begin; item < end; ++item) {
      const Job& job = jobs_[static_cast<size_t>(item / pieces.count)];
      body(job, pieces.range(item % pieces.count, shape.rows), {machine, index});
    }
  });
}

void ExpertRunner::prepare_blocks(const Machine& machine, const ExpertBlock& op) {
  const ExpertShape& shape = service_->shape(op.layer);
  const Lines x(op.x);
  const auto top_k = op.ids.shape[1];
  x_blocks_.clear();
  hidden_blocks_.clear();
  if (find_panel_layout(shape.gate) != nullptr || find_panel_layout(shape.up) != nullptr) {
    std::vector<const float*>& rows = x_rows_;
    rows.resize(static_cast<size_t>(x.count()));
    for (int64_t row = 0; row < x.count(); ++row) rows[static_cast<size_t>(row)] = x[row];
    quantised_x_.reserve(x.count(), shape.width);
    quantised_x_.quantise(machine, rows.data());
    for (const int64_t pair : pairs_) x_blocks_.push_back(quantised_x_[pair / top_k]);
  }
  if (find_panel_layout(shape.down) == nullptr) return;
  quantised_hidden_.reserve(static_cast<int64_t>(pairs_.size()), shape.inner);
  for (size_t place = 0; place < pairs_.size(); ++place)
    hidden_blocks_.push_back(quantised_hidden_[static_cast<int64_t>(place)]);
}

// hidden = silu(gate) * up in some columns, where gate lies in hidden; also in 8 bits if `down` takes those.
void ExpertRunner::activate(const Machine& machine, RowRange pairs, RowRange range, float* const* up) const {
  const int64_t width = range.end - range.begin;
  for (int64_t i = pairs.begin; i < pairs.end; ++i) {
    float* const columns = hidden_[static_cast<size_t>(i)] + range.begin;
    machine.kernels.vector.swiglu(columns, up[i - pairs.begin], columns, width);
    if (!hidden_blocks_.empty())
      machine.kernels.panel.quantise(columns, width,
                                     hidden_blocks_[static_cast<size_t>(i)] + range.begin / kActivationBlock);
  }
}

void ExpertRunner::gate_and_up(const Machine& machine, const ExpertShape& shape) const {
  const auto compute = [&](const Job& job, RowRange range, const Worker& worker) {
    const Matrix gate(shape.gate, job.placed.gate, shape.inner, shape.width);
    const Matrix up(shape.up, job.placed.up, shape.inner, shape.width);
    const int64_t width = range.end - range.begin;
    float* const up_values = worker.floats(Use::rows, kPairsAtOnce * width);
    std::array<float*, kPairsAtOnce> up_rows;
    for (int64_t i = 0; i < kPairsAtOnce; ++i) up_rows[static_cast<size_t>(i)] = up_values + i * width;
    for (int64_t first = job.begin; first < job.end; first += kPairsAtOnce) {
      const int64_t count = std::min(kPairsAtOnce, job.end - first);
      float* const* const hidden = hidden_.data() + first;
      const auto* const blocks = x_blocks_.empty() ? nullptr : x_blocks_.data() + first;
      multiply_rows(worker, gate, range, {.x = x_.data() + first, .blocks = blocks, .out = hidden, .count = count});
      multiply_rows(worker, up, range, {x_.data() + first, blocks, up_rows.data(), count, range.begin});
      activate(machine, {first, first + count}, range, up_rows.data());
    }
  };
  run_pieces(machine, Matrix(shape.gate, 0, shape.inner, shape.width), compute);
}

void ExpertRunner::down(const Machine& machine, const ExpertShape& shape) const {
  const auto compute = [&](const Job& job, RowRange range, const Worker& worker) {
    const Matrix matrix(shape.down, job.placed.down, shape.width, shape.inner);
    const auto* const blocks = hidden_blocks_.empty() ? nullptr : hidden_blocks_.data() + job.begin;
    multiply_rows(worker, matrix, range,
                  {.x = hidden_.data() + job.begin,
                   .blocks = blocks,
                   .out = parts_.data() + job.begin,
                   .count = job.end - job.begin});
  };
  run_pieces(machine, Matrix(shape.down, 0, shape.width, shape.inner), compute);
}

void ExpertRunner::sum_parts(const Machine& machine, const ExpertBlock& op) const {
  const Lines parts(op.parts), out(op.out);
  const int64_t top_k = op.ids.shape[1];
  machine.pool.parallel_for(out.count(), grain_for(top_k * out.width()), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const float* const weights = weights_.data() + row * top_k;
      machine.kernels.vector.scale({.x = parts[row * top_k], .out = out[row], .factor = weights[0], .n = out.width()});
      for (int64_t k = 1; k < top_k && ids_[static_cast<size_t>(row * top_k + k)] != kNoExpert; ++k)
        machine.kernels.vector.add_scaled(out[row], parts[row * top_k + k], weights[k], out.width());
    }
  });
}

void ExpertRunner::finish(const Machine& machine, const ExpertBlock& op) {
  if (dispatch_ == nullptr) return;
  const ExpertShape& shape = service_->shape(op.layer);
  prepare_blocks(machine, op);
  int64_t pairs = 0;
  for (auto wave = dispatch_->next_wave(); !wave.empty(); wave = dispatch_->next_wave()) {
    pairs += collect_jobs(wave);
    if (jobs_.empty()) continue;
    gate_and_up(machine, shape);
    down(machine, shape);
  }
  LUCE_CHECK(pairs == first_pair_.back(), "waves hold every routed expert exactly once");
  sum_parts(machine, op);
  dispatch_ = nullptr;
}

}  // namespace luce::device::cpu
