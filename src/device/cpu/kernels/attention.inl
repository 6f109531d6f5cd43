// Attention over one cache format. Query heads that share a key head are taken together, so that a key or value is
// converted once for several of them; sums run in the order of the width (scores) and of the positions (blend).

// Reads of a cached row. A q8_0 row consists of whole blocks, so its vectors are never cut.
template <typename Element>
struct PlainLine {
  const uint8_t* bytes;
  LUCE_INLINE V at(int64_t i) const { return Element::at(bytes + i * Element::kBytes); }
  LUCE_INLINE V part(int64_t i, int64_t n) const { return Plain<Element>::part(bytes + i * Element::kBytes, n); }
};

struct Q8Line {
  const uint8_t* bytes;
  LUCE_INLINE V at(int64_t i) const {
    const uint8_t* block = bytes + i / 32 * 34;
    return to_float(load_i8(reinterpret_cast<const int8_t*>(block + 2 + i % 32))) * broadcast(load_half(block));
  }
  LUCE_INLINE V part(int64_t i, int64_t) const { return at(i); }
};

constexpr int kPositionTile = 2;

template <typename Line, int kHeads, int kPositions>
LUCE_INLINE void score_tile(const ScoreTask& task, int64_t head, int64_t position) {
  const uint8_t* keys = reinterpret_cast<const uint8_t*>(task.k) + position * task.k_stride_bytes;
  const float* q = task.q + head * task.q_stride;
  V sums[kHeads][kPositions] = {};
  int64_t at = 0;
  for (; at + kLanes <= task.width; at += kLanes) {
#pragma GCC unroll 2
    for (int p = 0; p < kPositions; ++p) {
      const V key = Line{keys + p * task.k_stride_bytes}.at(at);
#pragma GCC unroll 4
      for (int h = 0; h < kHeads; ++h) sums[h][p] = fused(key, load(q + h * task.q_stride + at), sums[h][p]);
    }
  }
  const int64_t rest = task.width - at;
  if (rest > 0)
#pragma GCC unroll 2
    for (int p = 0; p < kPositions; ++p) {
      const V key = Line{keys + p * task.k_stride_bytes}.part(at, rest);
#pragma GCC unroll 4
      for (int h = 0; h < kHeads; ++h) sums[h][p] = fused(key, load_part(q + h * task.q_stride + at, rest), sums[h][p]);
    }
#pragma GCC unroll 4
  for (int h = 0; h < kHeads; ++h)
#pragma GCC unroll 2
    for (int p = 0; p < kPositions; ++p)
      task.scores[(head + h) * task.score_stride + position + p] = sum(sums[h][p]) * task.scale;
}

template <typename Line, int kHeads>
void score_heads(const ScoreTask& task, int64_t head) {
  int64_t position = 0;
  for (; position + kPositionTile <= task.positions; position += kPositionTile)
    score_tile<Line, kHeads, kPositionTile>(task, head, position);
  if (position < task.positions) score_tile<Line, kHeads, 1>(task, head, position);
}

template <typename Line>
void score(const ScoreTask& task) {
  mark_run();
  int64_t head = 0;
  for (; head + kHeadTile <= task.heads; head += kHeadTile) score_heads<Line, kHeadTile>(task, head);
  for (; head < task.heads; ++head) score_heads<Line, 1>(task, head);
}

struct BlendTile {
  int64_t head;
  int64_t column;
  int64_t columns;  // in the last vector, if it is cut
};

template <typename Line, int kHeads, int kColumns, bool kCut>
LUCE_INLINE void blend_tile(const BlendTask& task, BlendTile tile) {
  const uint8_t* value = reinterpret_cast<const uint8_t*>(task.v);
  const float* weight = task.weights + tile.head * task.weight_stride;
  V sums[kHeads][kColumns] = {};
  for (int64_t p = 0; p < task.positions; ++p, value += task.v_stride_bytes) {
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) {
      const int64_t at = tile.column + c * kLanes;
      const V v = kCut ? Line{value}.part(at, tile.columns) : Line{value}.at(at);
#pragma GCC unroll 4
      for (int h = 0; h < kHeads; ++h) sums[h][c] = fused(broadcast(weight[h * task.weight_stride + p]), v, sums[h][c]);
    }
  }
#pragma GCC unroll 4
  for (int h = 0; h < kHeads; ++h)
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) {
      float* out = task.out + (tile.head + h) * task.width + tile.column + c * kLanes;
      kCut ? store_part(out, sums[h][c], tile.columns) : store(out, sums[h][c]);
    }
}

template <typename Line, int kHeads>
void blend_heads(const BlendTask& task, int64_t head) {
  int64_t column = 0;
  for (; column + kColumnTile * kLanes <= task.width; column += kColumnTile * kLanes)
    blend_tile<Line, kHeads, kColumnTile, false>(task, {head, column, kLanes});
  for (; column + kLanes <= task.width; column += kLanes)
    blend_tile<Line, kHeads, 1, false>(task, {head, column, kLanes});
  if (column < task.width) blend_tile<Line, kHeads, 1, true>(task, {head, column, task.width - column});
}

template <typename Line>
void blend(const BlendTask& task) {
  mark_run();
  int64_t head = 0;
  for (; head + kHeadTile <= task.heads; head += kHeadTile) blend_heads<Line, kHeadTile>(task, head);
  for (; head < task.heads; ++head) blend_heads<Line, 1>(task, head);
}
