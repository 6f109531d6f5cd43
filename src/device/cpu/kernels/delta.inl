// The gated delta rule on some columns of one head's state; columns do not depend on each other. The decay is applied
// to S^T k at once and to S where it is rewritten, so that the state is read twice and written once per row.

constexpr int kDeltaVectors = 4;

template <typename Access>
struct DeltaTile {
  int64_t column;
  Access vector;
};

template <int kVectors, typename Access>
LUCE_INLINE void delta_row(const DeltaTask& task, DeltaTile<Access> tile, int64_t row) {
  const float *k = task.k + row * task.k_stride, *q = task.q + row * task.q_stride;
  const V decay = broadcast(task.decay[row * task.decay_stride]), beta = broadcast(task.beta[row * task.beta_stride]);
  V change[kVectors] = {}, out[kVectors] = {};
  float* state = task.state + tile.column;
  for (int64_t i = 0; i < task.key_width; ++i) {
#pragma GCC unroll 4
    for (int c = 0; c < kVectors; ++c)
      change[c] = fused(broadcast(k[i]), tile.vector.get(state + i * task.state_stride + c * kLanes), change[c]);
  }
  const float* v = task.v + row * task.v_stride + tile.column;
#pragma GCC unroll 4
  for (int c = 0; c < kVectors; ++c) change[c] = beta * (tile.vector.get(v + c * kLanes) - decay * change[c]);
  for (int64_t i = 0; i < task.key_width; ++i) {
#pragma GCC unroll 4
    for (int c = 0; c < kVectors; ++c) {
      float* s = state + i * task.state_stride + c * kLanes;
      const V next = fused(broadcast(k[i]), change[c], decay * tile.vector.get(s));
      tile.vector.put(s, next);
      out[c] = fused(broadcast(q[i]), next, out[c]);
    }
  }
  float* to = task.out + row * task.out_stride + tile.column;
#pragma GCC unroll 4
  for (int c = 0; c < kVectors; ++c) tile.vector.put(to + c * kLanes, out[c] * broadcast(task.scale));
}

template <int kVectors, typename Access>
void delta_tile(const DeltaTask& task, DeltaTile<Access> tile) {
  for (int64_t row = 0; row < task.rows; ++row) delta_row<kVectors, Access>(task, tile, row);
}

void delta(const DeltaTask& task) {
  mark_run();
  const WholeVector whole;
  int64_t column = 0;
  for (; column + kDeltaVectors * kLanes <= task.columns; column += kDeltaVectors * kLanes)
    delta_tile<kDeltaVectors, WholeVector>(task, {column, whole});
  for (; column + kLanes <= task.columns; column += kLanes) delta_tile<1, WholeVector>(task, {column, whole});
  if (column < task.columns) delta_tile<1, CutVector>(task, {column, {task.columns - column}});
}
