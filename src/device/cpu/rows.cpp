// Ops on rows that do not depend on each other.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/cpu/lines.hpp"
#include "device/cpu/matrix.hpp"
#include "device/cpu/ops.hpp"

namespace luce::device::cpu {
namespace {

template <typename Function>
void each_line(const Machine& machine, const Lines& lines, const Function& function) {
  machine.pool.parallel_for(lines.count(), grain_for(lines.width()), [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) function(line);
  });
}

float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }

float gate_value(GateFunction function, float x) {
  return function == GateFunction::sigmoid ? sigmoid(x) : x * sigmoid(x);
}

// log(1 + exp(x)) without overflow.
float softplus(float x) { return std::max(x, 0.0F) + std::log1p(std::exp(-std::fabs(x))); }

}  // namespace

void embed_rows(const Machine& machine, const EmbedRows& op) {
  const Matrix table(op.table.format, op.table.address, op.table.shape[0], op.table.shape.width());
  const Lines out(op.out);
  const int32_t* const ids = ints(op.ids);
  machine.pool.parallel_for(out.count(), grain_for(out.width()), [&](int64_t begin, int64_t end, int index) {
    for (int64_t row = begin; row < end; ++row) {
      LUCE_CHECK(ids[row] >= 0 && ids[row] < table.rows, "a token outside the vocabulary");
      read_row({machine, index}, table, ids[row], out[row]);
    }
  });
}

void gather_rows(const Machine& machine, const GatherRows& op) {
  const Lines x(op.x), out(op.out);
  const int32_t* const indices = ints(op.indices);
  each_line(machine, out, [&](int64_t row) {
    LUCE_CHECK(indices[row] >= 0 && indices[row] < x.count(), "a row outside the batch");
    std::memcpy(out[row], x[indices[row]], static_cast<size_t>(x.width()) * sizeof(float));
  });
}

void rms_norm(const Machine& machine, const RmsNorm& op) {
  const Lines x(op.x), out(op.out);
  const float* const weight = floats(op.weight);
  each_line(machine, x, [&](int64_t line) {
    const float mean = machine.kernels.vector.sum_of_squares(x[line], x.width()) / static_cast<float>(x.width());
    const float factor = 1.0F / std::sqrt(mean + op.epsilon);
    machine.kernels.vector.scale({.x = x[line], .weight = weight, .out = out[line], .factor = factor, .n = x.width()});
  });
}

void l2_norm(const Machine& machine, const L2Norm& op) {
  const Lines x(op.x);
  each_line(machine, x, [&](int64_t line) {
    const float length = std::sqrt(machine.kernels.vector.sum_of_squares(x[line], x.width()));
    const float factor = 1.0F / std::max(length, op.epsilon);
    machine.kernels.vector.scale({.x = x[line], .out = x[line], .factor = factor, .n = x.width()});
  });
}

void matmul(const Machine& machine, const MatMul& op, RowLists& lists) {
  const Matrix matrix(op.weight.format, op.weight.address, op.weight.shape[0], op.weight.shape.width());
  const Lines x(op.x), out(op.out);
  const int64_t rows = x.count();
  if (rows == 0) return;
  lists.x.resize(static_cast<size_t>(rows));
  lists.out.resize(static_cast<size_t>(rows));
  for (int64_t r = 0; r < rows; ++r) {
    lists.x[static_cast<size_t>(r)] = x[r];
    lists.out[static_cast<size_t>(r)] = out[r];
  }
  RowPointers pointers{.x = lists.x.data(), .out = lists.out.data(), .count = rows};
  if (matrix.panels != nullptr) {
    lists.quantised.reserve(rows, x.width());
    lists.quantised.quantise(machine, pointers.x);
    pointers.blocks = lists.quantised.rows();
  }
  machine.pool.parallel_for(matrix.rows, rows_per_piece(machine, matrix, rows),
                            [&](int64_t begin, int64_t end, int index) {
                              multiply_rows({machine, index}, matrix, {begin, end}, pointers);
                              if (op.bias.empty()) return;
                              for (int64_t r = 0; r < rows; ++r)
                                machine.kernels.vector.add(out[r] + begin, floats(op.bias) + begin, end - begin);
                            });
}

void add(const Machine& machine, const Add& op) {
  const Lines x(op.x), y(op.y);
  each_line(machine, x, [&](int64_t line) { machine.kernels.vector.add(x[line], y[line], x.width()); });
}

void swiglu(const Machine& machine, const SwiGlu& op) {
  const Lines gate(op.gate), up(op.up), out(op.out);
  each_line(machine, out,
            [&](int64_t line) { machine.kernels.vector.swiglu(gate[line], up[line], out[line], out.width()); });
}

void multiply_gate(const Machine& machine, const MultiplyGate& op) {
  const Lines x(op.x), gate(op.gate);
  LUCE_CHECK(gate.count() == x.count(), "a gate has the rows of its tensor");
  if (gate.width() == 1) {
    each_line(machine, x, [&](int64_t line) {
      const float factor = gate_value(op.function, *gate[line]);
      machine.kernels.vector.scale({.x = x[line], .out = x[line], .factor = factor, .n = x.width()});
    });
    return;
  }
  const VectorKernels& kernels = machine.kernels.vector;
  auto* const multiply = op.function == GateFunction::sigmoid ? kernels.multiply_sigmoid : kernels.multiply_silu;
  each_line(machine, x, [&](int64_t line) { multiply(x[line], gate[line], x.width()); });
}

void delta_gates(const Machine& machine, const DeltaGates& op) {
  const Lines alpha(op.alpha), beta(op.beta);
  const float *const dt_bias = floats(op.dt_bias), *const a = floats(op.a);
  each_line(machine, alpha, [&](int64_t row) {
    for (int64_t h = 0; h < alpha.width(); ++h) {
      alpha[row][h] = std::exp(a[h] * softplus(alpha[row][h] + dt_bias[h]));
      beta[row][h] = sigmoid(beta[row][h]);
    }
  });
}

}  // namespace luce::device::cpu
