// Dot products. One product is two sums, of even and of odd vectors, joined at the end: every kernel below keeps that
// order, so a product has the same bits whichever of them computes it.

// Activation rows up to this number meet the weights as they are decoded; more of them meet dequantised lines.
constexpr int64_t kFusedRows = 4;

// Sums of some weight rows with some activation rows: [weights][rows][even, odd].
template <int kWeights, int kRows>
struct Sums {
  V of[kWeights][kRows][2] = {};

  LUCE_INLINE void write(const DotTask& task, int64_t weight_row, int64_t x_row) const {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int w = 0; w < kWeights; ++w)
        task.out[x_row + r][task.out_begin + weight_row + w] = sum(of[w][r][0] + of[w][r][1]);
  }
};

// Takes decoded weights straight into the sums of one weight row.
template <int kRows>
struct MultiplySink {
  const float* const* x;
  int64_t at;
  V (*sums)[2];

  LUCE_INLINE void operator()(int64_t i, V w0, V w1) const {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sums[r][0] = fused(w0, load(x[r] + at + i), sums[r][0]);
      sums[r][1] = fused(w1, load(x[r] + at + i + kLanes), sums[r][1]);
    }
  }
};

struct StoreSink {
  float* out;

  LUCE_INLINE void operator()(int64_t i, V w0, V w1) const {
    store(out + i, w0);
    store(out + i + kLanes, w1);
  }
};

template <int kRows, typename Format>
LUCE_INLINE void multiply_tail(const uint8_t*, MultiplySink<kRows>, int64_t, Format) {}

template <int kRows, typename Element>
LUCE_INLINE void multiply_tail(const uint8_t* unit, MultiplySink<kRows> sink, int64_t rest, Plain<Element>) {
  if (rest == 0) return;
  const int64_t n0 = part_of(rest, 0), n1 = part_of(rest, kLanes);
  const V w0 = Plain<Element>::part(unit, n0);
  const V w1 = Plain<Element>::part(unit + n0 * Element::kBytes, n1);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    sink.sums[r][0] = fused(w0, load_part(sink.x[r] + sink.at, n0), sink.sums[r][0]);
    sink.sums[r][1] = fused(w1, load_part(sink.x[r] + sink.at + n0, n1), sink.sums[r][1]);
  }
}

// One stream of weights at a time: the processor's prefetchers lose track of two that are close to each other.
constexpr int64_t kPrefetchBytes = 4096;

template <typename Format, int kRows>
void fused_row(const DotTask& task, int64_t weight_row) {
  const uint8_t* unit = reinterpret_cast<const uint8_t*>(task.weights) + weight_row * task.row_bytes;
  const float* x[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) x[r] = task.x[r];
  Sums<1, kRows> sums;
  int64_t at = 0;
  for (; at + Format::kUnit <= task.width; at += Format::kUnit, unit += Format::kUnitBytes) {
    for (int64_t i = 0; i < Format::kUnitBytes; i += 64) __builtin_prefetch(unit + i + kPrefetchBytes);
    Format::unit(unit, MultiplySink<kRows>{x, at, sums.of[0]});
  }
  multiply_tail(unit, MultiplySink<kRows>{x, at, sums.of[0]}, task.width - at, Format{});
  sums.write(task, weight_row, 0);
}

template <typename Format>
void fused_dots(const DotTask& task) {
  for (int64_t w = 0; w < task.weight_rows; ++w) {
    switch (task.x_rows) {
      case 1: fused_row<Format, 1>(task, w); break;
      case 2: fused_row<Format, 2>(task, w); break;
      case 3: fused_row<Format, 3>(task, w); break;
      default: fused_row<Format, 4>(task, w); break;
    }
  }
}

struct Lines {
  const float* first = nullptr;
  int64_t stride = 0;
};

template <int kParity, int kWeights, int kRows, typename Access>
LUCE_INLINE void tile_step(const float* const* weights, const float* const* x, Sums<kWeights, kRows>& sums,
                           Access access) {
  V xs[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) xs[r] = access.get(x[r]);
#pragma GCC unroll 4
  for (int w = 0; w < kWeights; ++w) {
    const V line = in_register(access.get(weights[w]));
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) sums.of[w][r][kParity] = fused(line, xs[r], sums.of[w][r][kParity]);
  }
}

template <int kWeights, int kRows>
void tile(const DotTask& task, Lines lines, int64_t first, int64_t row) {
  const float *weights[kWeights], *x[kRows];
#pragma GCC unroll 4
  for (int w = 0; w < kWeights; ++w) weights[w] = lines.first + (first + w) * lines.stride;
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) x[r] = task.x[row + r];
  const auto advance = [&](int64_t n) __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int w = 0; w < kWeights; ++w) weights[w] += n;
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) x[r] += n;
  };
  Sums<kWeights, kRows> sums;
  int64_t rest = task.width;
  for (; rest >= 2 * kLanes; rest -= 2 * kLanes) {
    tile_step<0>(weights, x, sums, WholeVector{});
    advance(kLanes);
    tile_step<1>(weights, x, sums, WholeVector{});
    advance(kLanes);
  }
  const int64_t n0 = part_of(rest, 0), n1 = part_of(rest, kLanes);
  if (n0 > 0) tile_step<0>(weights, x, sums, CutVector{n0});
  advance(n0);
  if (n1 > 0) tile_step<1>(weights, x, sums, CutVector{n1});
  sums.write(task, first, row);
}

template <int kRows>
void tile_rows(const DotTask& task, Lines lines, int64_t row) {
  int64_t w = 0;
  for (; w + kTileWeights <= task.weight_rows; w += kTileWeights) tile<kTileWeights, kRows>(task, lines, w, row);
  for (; w < task.weight_rows; ++w) tile<1, kRows>(task, lines, w, row);
}

void tile_dots(const DotTask& task, Lines lines) {
  int64_t row = 0;
  for (; row + kTileRows <= task.x_rows; row += kTileRows) tile_rows<kTileRows>(task, lines, row);
  if (task.x_rows - row == 2) tile_rows<2>(task, lines, row);
  if (task.x_rows - row == 1) tile_rows<1>(task, lines, row);
}

template <typename Format>
LUCE_INLINE void store_tail(const uint8_t*, float*, int64_t, Format) {}

template <typename Element>
LUCE_INLINE void store_tail(const uint8_t* unit, float* out, int64_t rest, Plain<Element>) {
  const int64_t n0 = part_of(rest, 0), n1 = part_of(rest, kLanes);
  store_part(out, Plain<Element>::part(unit, n0), n0);
  store_part(out + n0, Plain<Element>::part(unit + n0 * Element::kBytes, n1), n1);
}

template <typename Format>
void dequantise(const std::byte* row, int64_t width, float* out) {
  mark_run();
  const uint8_t* unit = reinterpret_cast<const uint8_t*>(row);
  int64_t at = 0;
  for (; at + Format::kUnit <= width; at += Format::kUnit, unit += Format::kUnitBytes)
    Format::unit(unit, StoreSink{out + at});
  store_tail(unit, out + at, width - at, Format{});
}

template <typename Format>
void dot(const DotTask& task) {
  mark_run();
  if (task.x_rows <= kFusedRows) return fused_dots<Format>(task);
  const int64_t stride = line_stride(task.width);
  for (int64_t w = 0; w < task.weight_rows; ++w)
    dequantise<Format>(task.weights + w * task.row_bytes, task.width, task.lines + w * stride);
  tile_dots(task, {task.lines, stride});
}

// Rows of f32 need no scratch; a row that does not lie on a float's place never occurs, rows are whole floats.
template <>
void dot<Plain<F32>>(const DotTask& task) {
  mark_run();
  if (task.x_rows <= kFusedRows) return fused_dots<Plain<F32>>(task);
  tile_dots(task, {reinterpret_cast<const float*>(task.weights), task.row_bytes / 4});
}
