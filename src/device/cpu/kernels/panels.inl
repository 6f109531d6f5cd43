// Products of panels with rows of 8-bit activations. Rows are taken in tiles, so that weights are decoded once for
// several of them; each row's sum is built by the same operations in the same order in every tile.

// Up to so many rows the weights come from memory no slower than they are multiplied.
constexpr int64_t kStreamedRows = 8;
// Rows whose activations stay in the second-level cache while the panels pass.
constexpr int64_t kPanelRowChunk = 64;
constexpr int64_t kPanelPrefetchBytes = 4096, kHeadPrefetchBytes = 512;

template <int kBiasShift>
LUCE_INLINE VI first_sum(int32_t negative_sum) {
  if constexpr (kBiasShift < 0)
    return VI{};
  else
    return in_vector(broadcast_int(negative_sum)) << kBiasShift;
}

// Activation rows of a task.
struct RowSpan {
  int64_t begin, end;
};

// Four codes of each row: from memory, or in registers where several panels take them.
template <int kRows, int kPanels>
struct CodeRows {
  const int8_t* at[kRows];
  LUCE_INLINE CodeRows(const ActivationBlock* const* x, int first) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) at[r] = x[r]->codes + first;
  }
  LUCE_INLINE const int8_t* operator[](int r) const { return at[r]; }
};

template <int kRows>
struct CodeRows<kRows, 2> {
  VI of[kRows];
  LUCE_INLINE CodeRows(const ActivationBlock* const* x, int first) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) of[r] = broadcast_codes(x[r]->codes + first);
  }
  LUCE_INLINE VI operator[](int r) const { return of[r]; }
};

// Which block of a unit.
struct BlockPlace {
  int outer, inner;
};

template <typename Panel, int kRows, int kPanels>
struct PanelSums {
  V of[kPanels][kRows] = {};
  const ActivationBlock* x[kRows];  // the rows' next blocks

  LUCE_INLINE void add_unit(const Panel* panels) {
    for (int outer = 0; outer < Panel::kOuter; ++outer)
#pragma GCC unroll 4
      for (int inner = 0; inner < Panel::kInner; ++inner) add_block(panels, {outer, inner});
  }

 private:
  typedef V Products[kPanels][kRows];

  LUCE_INLINE void add_block(const Panel* panels, BlockPlace place) {
    Products products;
    add_part<0>(panels, place, products);
    if constexpr (Panel::kSums == 2) add_part<1>(panels, place, products);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const V scale = broadcast(x[r]->scale), sum = broadcast(x[r]->scaled_sum);
#pragma GCC unroll 2
      for (int p = 0; p < kPanels; ++p) {
        of[p][r] = fused(products[p][r], scale, of[p][r]);
        if constexpr (Panel::kHasOffset) of[p][r] = fused(panels[p].offset(place.outer, place.inner), sum, of[p][r]);
      }
      ++x[r];
    }
  }

  // The weights of one scale: a block, or a half of it.
  template <int kPart>
  LUCE_INLINE void add_part(const Panel* panels, BlockPlace place, Products& products) const {
    constexpr int kCount = 8 / Panel::kSums;
    VI dots[kPanels][kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (int p = 0; p < kPanels; ++p) dots[p][r] = first_sum<Panel::kBiasShift>(negative_sum<kPart>(*x[r]));
#pragma GCC unroll 8
    for (int i = kPart * kCount; i < kPart * kCount + kCount; ++i) {
      const CodeRows<kRows, kPanels> codes(x, 4 * i);
#pragma GCC unroll 2
      for (int p = 0; p < kPanels; ++p) {
        const typename Panel::Codes weights(panels[p].code(place.outer, place.inner, i));
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) dots[p][r] = weights.dot(dots[p][r], codes[r]);
      }
    }
#pragma GCC unroll 2
    for (int p = 0; p < kPanels; ++p) {
      const V scale = panels[p].scale(place.outer, place.inner, kPart);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
        products[p][r] = kPart == 0 ? to_float(dots[p][r]) * scale : fused(to_float(dots[p][r]), scale, products[p][r]);
    }
  }

  template <int kPart>
  LUCE_INLINE static int32_t negative_sum(const ActivationBlock& block) {
    if constexpr (Panel::kSums == 1) return block.negative_sum;
    return kPart == 0 ? block.negative_low_sum : block.negative_sum - block.negative_low_sum;
  }
};

// Rows from `first` on of one panel and of those behind it.
struct PanelPart {
  const uint8_t* panel;
  int first;
  int64_t out_begin;
  int64_t rows;  // left to write; of each panel at most kLanes
};

template <typename Panel>
LUCE_INLINE void prefetch_unit(const uint8_t* head, const uint8_t* dwords) {
  if constexpr (Panel::kHeadBytes > 0) __builtin_prefetch(head + kHeadPrefetchBytes);
  for (int i = 0; i < Panel::kDwords; ++i) __builtin_prefetch(dwords + i * kDwordBytes + kPanelPrefetchBytes);
}

template <typename Panel, int kRows, int kPanels>
void panel_tile(const PanelTask& task, const PanelPart& part, int64_t row) {
  const int64_t units = task.width / Panel::kWeights;
  const uint8_t* head = part.panel + part.first * Panel::kHeadBytes;
  const uint8_t* dwords = part.panel + units * Panel::kHeadBytes * kPanelRows + part.first * 4;
  PanelSums<Panel, kRows, kPanels> sums;
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) sums.x[r] = task.x[row + r];
  for (int64_t unit = 0; unit < units; ++unit) {
    if (task.x_rows <= kStreamedRows) prefetch_unit<Panel>(head, dwords);
    if constexpr (kPanels == 2) {
      const Panel panels[] = {{head, dwords}, {head + task.panel_bytes, dwords + task.panel_bytes}};
      sums.add_unit(panels);
    } else {
      const Panel panel(head, dwords);
      sums.add_unit(&panel);
    }
    head += Panel::kHeadBytes * kPanelRows;
    dwords += Panel::kDwords * kDwordBytes;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int p = 0; p < kPanels; ++p) {
      float* const out = task.out[row + r] + part.out_begin + p * kPanelRows;
      const int64_t rows = part.rows - p * kPanelRows;
      rows >= kLanes ? store(out, sums.of[p][r]) : store_part(out, sums.of[p][r], rows);
    }
}

// Rows [begin, end) in tiles of kRows, then in smaller ones.
template <typename Panel, int kRows, int kPanels>
LUCE_INLINE void panel_tiles(const PanelTask& task, const PanelPart& part, RowSpan rows) {
  for (; rows.begin + kRows <= rows.end; rows.begin += kRows) panel_tile<Panel, kRows, kPanels>(task, part, rows.begin);
  if constexpr (kRows > 1) panel_tiles<Panel, kRows / 2, kPanels>(task, part, rows);
}

// Pairs of panels share the loads of activations; formats whose scales take many registers do better alone.
template <typename Panel>
constexpr bool kInPairs = kPairTile > 0 && !Panel::kHasOffset;

template <typename Panel>
void multiply_row_span(const PanelTask& task, RowSpan rows) {
  const uint8_t* panel = reinterpret_cast<const uint8_t*>(task.weights);
  int64_t w = 0;
  // Few rows read one panel after the other, as a single stream.
  constexpr int kTile = kInPairs<Panel> ? kPairTile : kPanelTile;
  if constexpr (kInPairs<Panel>)
    for (; rows.end - rows.begin > kStreamedRows && w + kPanelRows < task.weight_rows; w += 2 * kPanelRows) {
      panel_tiles<Panel, kTile, 2>(task, {panel, 0, task.out_begin + w, task.weight_rows - w}, rows);
      panel += 2 * task.panel_bytes;
    }
  for (; w < task.weight_rows; w += kPanelRows, panel += task.panel_bytes)
    for (int first = 0; first < kPanelRows && w + first < task.weight_rows; first += kLanes) {
      const int64_t at = w + first;
      panel_tiles<Panel, kTile, 1>(task, {panel, first, task.out_begin + at, task.weight_rows - at}, rows);
    }
}

template <typename Panel>
void multiply_panels(const PanelTask& task) {
  mark_run();
  for (int64_t row = 0; row < task.x_rows; row += kPanelRowChunk) {
    const int64_t end = row + kPanelRowChunk < task.x_rows ? row + kPanelRowChunk : task.x_rows;
    multiply_row_span<Panel>(task, {row, end});
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
