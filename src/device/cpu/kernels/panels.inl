// Products of panels with rows of 8-bit activations. Rows are taken in tiles, so that weights are decoded once for
// several of them; each row's sum is built by the same operations in the same order in every tile.

// Rows whose activations stay in the second-level cache while the panels pass.
constexpr int64_t kPanelRowChunk = 64;
constexpr int64_t kPanelPrefetchBytes = 4096;

template <int kBiasShift>
LUCE_INLINE VI first_sum(int32_t negative_sum) {
  if constexpr (kBiasShift < 0)
    return VI{};
  else
    return in_vector(broadcast_int(negative_sum)) << kBiasShift;
}

// Which block of a unit.
struct BlockPlace {
  int outer, inner;
};

template <typename Panel, int kRows>
struct PanelSums {
  V of[kRows] = {};
  const ActivationBlock* x[kRows];  // the rows' next blocks

  LUCE_INLINE void add_block(const Panel& panel, BlockPlace place) {
    V products[kRows];
    add_part<0>(panel, place, products);
    if constexpr (Panel::kSums == 2) add_part<1>(panel, place, products);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      of[r] = fused(products[r], broadcast(x[r]->scale), of[r]);
      if constexpr (Panel::kHasOffset)
        of[r] = fused(panel.offset(place.outer, place.inner), broadcast(x[r]->scaled_sum), of[r]);
      ++x[r];
    }
  }

 private:
  // The weights of one scale: a block, or a half of it.
  template <int kPart>
  LUCE_INLINE void add_part(const Panel& panel, BlockPlace place, V* products) const {
    constexpr int kCount = 8 / Panel::kSums;
    VI dots[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) dots[r] = first_sum<Panel::kBiasShift>(negative_sum<kPart>(*x[r]));
#pragma GCC unroll 8
    for (int i = 0; i < kCount; ++i) {
      const typename Panel::Codes codes(panel.code(place.outer, place.inner, kPart * kCount + i));
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) dots[r] = codes.dot(dots[r], x[r]->codes + 4 * (kPart * kCount + i));
    }
    const V scale = panel.scale(place.outer, place.inner, kPart);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      products[r] = kPart == 0 ? to_float(dots[r]) * scale : fused(to_float(dots[r]), scale, products[r]);
  }

  template <int kPart>
  LUCE_INLINE static int32_t negative_sum(const ActivationBlock& block) {
    if constexpr (Panel::kSums == 1) return block.negative_sum;
    return kPart == 0 ? block.negative_low_sum : block.negative_sum - block.negative_low_sum;
  }
};

// Rows [first, first + kLanes) of one panel.
struct PanelPart {
  const uint8_t* panel;
  int first;
  int64_t out_begin;
  int64_t rows;  // to write, at most kLanes
};

template <typename Panel, int kRows>
void panel_tile(const PanelTask& task, const PanelPart& part, int64_t row) {
  const int64_t units = task.width / Panel::kWeights;
  const uint8_t* head = part.panel + part.first * Panel::kHeadBytes;
  const uint8_t* dwords = part.panel + units * Panel::kHeadBytes * kPanelRows + part.first * 4;
  PanelSums<Panel, kRows> sums;
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) sums.x[r] = task.x[row + r];
  for (int64_t unit = 0; unit < units; ++unit) {
    if constexpr (kRows == 1)
      for (int i = 0; i < Panel::kDwords; ++i) __builtin_prefetch(dwords + i * kDwordBytes + kPanelPrefetchBytes);
    const Panel panel(head, dwords);
    for (int outer = 0; outer < Panel::kOuter; ++outer)
#pragma GCC unroll 4
      for (int inner = 0; inner < Panel::kInner; ++inner) sums.add_block(panel, {outer, inner});
    head += Panel::kHeadBytes * kPanelRows;
    dwords += Panel::kDwords * kDwordBytes;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    float* const out = task.out[row + r] + part.out_begin;
    part.rows == kLanes ? store(out, sums.of[r]) : store_part(out, sums.of[r], part.rows);
  }
}

// Rows [begin, end) in tiles of kRows, then in smaller ones.
template <typename Panel, int kRows>
LUCE_INLINE void panel_tiles(const PanelTask& task, const PanelPart& part, int64_t begin, int64_t end) {
  for (; begin + kRows <= end; begin += kRows) panel_tile<Panel, kRows>(task, part, begin);
  if constexpr (kRows > 1) panel_tiles<Panel, kRows / 2>(task, part, begin, end);
}

template <typename Panel>
void multiply_panels(const PanelTask& task) {
  mark_run();
  for (int64_t row = 0; row < task.x_rows; row += kPanelRowChunk) {
    const int64_t row_end = row + kPanelRowChunk < task.x_rows ? row + kPanelRowChunk : task.x_rows;
    const uint8_t* panel = reinterpret_cast<const uint8_t*>(task.weights);
    for (int64_t w = 0; w < task.weight_rows; w += kPanelRows, panel += task.panel_bytes)
      for (int first = 0; first < kPanelRows && w + first < task.weight_rows; first += kLanes)
        panel_tiles<Panel, kPanelTile>(
            task, {panel, first, task.out_begin + w + first, part_of(task.weight_rows, w + first)}, row, row_end);
  }
}

LUCE_INLINE int32_t sum_of_codes(const int8_t* codes) {
  int32_t sum = 0;
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) sum += codes[i];
  return sum;
}

constexpr float kSmallestReach = 1e-30F;

void quantise_blocks(const float* x, int64_t n, ActivationBlock* out) {
  mark_run();
  const V magic = broadcast(12582912.0F);
  for (int64_t at = 0; at < n; at += kActivationBlock, ++out) {
    V reach = {};
#pragma GCC unroll 8
    for (int i = 0; i < kActivationBlock; i += kLanes) {
      const V v = load(x + at + i);
      reach = larger(reach, larger(v, -v));
    }
    // Below the smallest reach the inverse would overflow.
    const float found = largest(reach), most = found < kSmallestReach ? 0.0F : found;
    const V inverse = broadcast(most == 0 ? 0.0F : 127.0F / most);
#pragma GCC unroll 8
    for (int i = 0; i < kActivationBlock; i += kLanes) {
      const V q = smaller(broadcast(127.0F), larger(broadcast(-127.0F), load(x + at + i) * inverse));
      store_i8(out->codes + i, as_int(q + magic) - as_int(magic));
    }
    const int32_t low = sum_of_codes(out->codes), sum = low + sum_of_codes(out->codes + 16);
    out->scale = most / 127.0F;
    out->scaled_sum = out->scale * static_cast<float>(sum);
    out->negative_sum = -sum;
    out->negative_low_sum = -low;
  }
}

constexpr PanelKernels panel_kernels() {
  return {.q4_0 = multiply_panels<Q40Panel>,
          .q8_0 = multiply_panels<Q80Panel>,
          .q4_k = multiply_panels<Q4kPanel>,
          .q5_k = multiply_panels<Q5kPanel>,
          .q6_k = multiply_panels<Q6kPanel>,
          .iq4_nl = multiply_panels<Iq4NlPanel>,
          .iq4_xs = multiply_panels<Iq4XsPanel>,
          .mxfp4 = multiply_panels<Mxfp4Panel>,
          .quantise = quantise_blocks};
}
