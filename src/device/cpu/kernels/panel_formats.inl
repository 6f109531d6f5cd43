// Units of a panel: some blocks of 32 weights of kLanes rows. `code(outer, inner, i)` gives weights [4 i, 4 i + 4) of a
// block as codes, before `kBiasShift` moves them down; the loop over `inner` is unrolled, the one over `outer` is not.
// scale() and offset() say what a code stands for; with kSums 2 each half of a block has a scale.

constexpr int kDwordBytes = 4 * kPanelRows;  // one dword of each row

LUCE_INLINE VI dword(const uint8_t* p, int64_t index) { return load_dwords(p + index * kDwordBytes); }
LUCE_INLINE VI low_nibbles(VI v) { return v & broadcast_int(0x0f0f0f0f); }
// 32 codes of four bits in 16 bytes: low halves first.
LUCE_INLINE VI nibbles_of_block(const uint8_t* p, int i) { return low_nibbles(dword(p, i % 4) >> i / 4 * 4); }

struct OneBlock {
  static constexpr int kOuter = 1, kInner = 1, kWeights = 32, kSums = 1;
  static constexpr bool kHasOffset = false;
  const uint8_t* dwords;
  V factor;
  LUCE_INLINE OneBlock(const uint8_t* at, V by) : dwords(at), factor(by) {}
  LUCE_INLINE V scale(int, int, int) const { return factor; }
};

struct Q80Panel : OneBlock {
  using Codes = WideCodes;
  static constexpr int kHeadBytes = 2, kDwords = 8, kBiasShift = WideCodes::kBiasShift;
  LUCE_INLINE Q80Panel(const uint8_t* head, const uint8_t* at) : OneBlock(at, load_f16(head)) {}
  LUCE_INLINE VI code(int, int, int i) const { return dword(dwords, i); }
};

struct Q40Panel : OneBlock {
  using Codes = NarrowCodes;
  static constexpr int kHeadBytes = 2, kDwords = 4, kBiasShift = 3;
  LUCE_INLINE Q40Panel(const uint8_t* head, const uint8_t* at) : OneBlock(at, load_f16(head)) {}
  LUCE_INLINE VI code(int, int, int i) const { return nibbles_of_block(dwords, i); }
};

struct Iq4NlPanel : OneBlock {
  using Codes = WideCodes;
  static constexpr int kHeadBytes = 2, kDwords = 4, kBiasShift = WideCodes::kBiasShift;
  LUCE_INLINE Iq4NlPanel(const uint8_t* head, const uint8_t* at) : OneBlock(at, load_f16(head)) {}
  LUCE_INLINE VI code(int, int, int i) const { return look_up(kIq4Levels, nibbles_of_block(dwords, i)); }
};

// Doubled levels plus 16.
constexpr int8_t kFp4Codes[16] = {16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4};

struct Mxfp4Panel : OneBlock {
  using Codes = NarrowCodes;
  static constexpr int kHeadBytes = 1, kDwords = 4, kBiasShift = 4;
  // Half of 2^(exponent - 127), subnormal for the two smallest exponents.
  LUCE_INLINE static V half_of_powers(VI exponents) {
    return as_float(exponents < 2 ? (exponents + 1) << 21 : (exponents - 1) << 23);
  }
  LUCE_INLINE Mxfp4Panel(const uint8_t* head, const uint8_t* at) : OneBlock(at, half_of_powers(load_u8(head))) {}
  LUCE_INLINE VI code(int, int, int i) const { return look_up(kFp4Codes, nibbles_of_block(dwords, i)); }
};

// Scales and offsets of Q4_K and Q5_K; six bits each, in the three dwords behind the f16 factors.
struct KFactors {
  V scales[8], offsets[8];

  LUCE_INLINE explicit KFactors(const uint8_t* p) {
    const VI factors = dword(p, 0), first = dword(p, 1), second = dword(p, 2), third = dword(p, 3);
    const V scale = low_halves(factors), offset = -low_halves(factors >> 16);
    const VI low = broadcast_int(0x0f0f0f0f), six = broadcast_int(0x3f3f3f3f), two = broadcast_int(0x03030303);
    const VI upper_scales = (third & low) | (first >> 6 & two) << 4;
    const VI upper_offsets = (third >> 4 & low) | (second >> 6 & two) << 4;
#pragma GCC unroll 8
    for (int b = 0; b < 8; ++b) {
      scales[b] = to_float((b < 4 ? first & six : upper_scales) >> b % 4 * 8 & 255) * scale;
      offsets[b] = to_float((b < 4 ? second & six : upper_offsets) >> b % 4 * 8 & 255) * offset;
    }
  }
};

struct Q4kPanel {
  using Codes = NarrowCodes;
  static constexpr int kHeadBytes = 0, kDwords = 36, kBiasShift = -1;
  static constexpr int kOuter = 4, kInner = 2, kWeights = 256, kSums = 1;
  static constexpr bool kHasOffset = true;
  const uint8_t* dwords;
  KFactors factors;
  LUCE_INLINE Q4kPanel(const uint8_t*, const uint8_t* at) : dwords(at), factors(at) {}
  LUCE_INLINE V scale(int outer, int inner, int) const { return factors.scales[2 * outer + inner]; }
  LUCE_INLINE V offset(int outer, int inner) const { return factors.offsets[2 * outer + inner]; }
  LUCE_INLINE VI code(int outer, int inner, int i) const {
    return low_nibbles(dword(dwords, 4 + 8 * outer + i) >> 4 * inner);
  }
};

struct Q5kPanel {
  using Codes = NarrowCodes;
  static constexpr int kHeadBytes = 0, kDwords = 44, kBiasShift = -1;
  static constexpr int kOuter = 4, kInner = 2, kWeights = 256, kSums = 1;
  static constexpr bool kHasOffset = true;
  const uint8_t* dwords;
  KFactors factors;
  LUCE_INLINE Q5kPanel(const uint8_t*, const uint8_t* at) : dwords(at), factors(at) {}
  LUCE_INLINE V scale(int outer, int inner, int) const { return factors.scales[2 * outer + inner]; }
  LUCE_INLINE V offset(int outer, int inner) const { return factors.offsets[2 * outer + inner]; }
  LUCE_INLINE VI code(int outer, int inner, int i) const {
    const VI fifth = dword(dwords, 4 + i) >> (2 * outer + inner) & broadcast_int(0x01010101);
    return low_nibbles(dword(dwords, 12 + 8 * outer + i) >> 4 * inner) | fifth << 4;
  }
};

struct Q6kPanel {
  using Codes = NarrowCodes;
  static constexpr int kHeadBytes = 2, kDwords = 52, kBiasShift = 5;
  static constexpr int kOuter = 2, kInner = 4, kWeights = 256, kSums = 2;
  static constexpr bool kHasOffset = false;
  const uint8_t* dwords;
  V scales[16];
  LUCE_INLINE Q6kPanel(const uint8_t* head, const uint8_t* at) : dwords(at) {
    const V factor = load_f16(head);
#pragma GCC unroll 16
    for (int s = 0; s < 16; ++s) scales[s] = to_float(dword(at, 48 + s / 4) << (3 - s % 4) * 8 >> 24) * factor;
  }
  LUCE_INLINE V scale(int outer, int inner, int half) const { return scales[8 * outer + 2 * inner + half]; }
  LUCE_INLINE VI code(int outer, int inner, int i) const {
    const VI low = low_nibbles(dword(dwords, 16 * outer + 8 * (inner % 2) + i) >> inner / 2 * 4);
    return low | (dword(dwords, 32 + 8 * outer + i) >> 2 * inner & broadcast_int(0x03030303)) << 4;
  }
};

struct Iq4XsPanel {
  using Codes = WideCodes;
  static constexpr int kHeadBytes = 0, kDwords = 34, kBiasShift = WideCodes::kBiasShift;
  static constexpr int kOuter = 8, kInner = 1, kWeights = 256, kSums = 1;
  static constexpr bool kHasOffset = false;
  const uint8_t* dwords;
  V scales[8];
  LUCE_INLINE Iq4XsPanel(const uint8_t*, const uint8_t* at) : dwords(at) {
    const VI head = dword(at, 0), low = dword(at, 1);
    const V factor = low_halves(head);
#pragma GCC unroll 8
    for (int b = 0; b < 8; ++b)
      scales[b] = to_float(((low >> 4 * b & 15) | (head >> (16 + 2 * b) & 3) << 4) - 32) * factor;
  }
  LUCE_INLINE V scale(int outer, int, int) const { return scales[outer]; }
  LUCE_INLINE VI code(int outer, int, int i) const {
    return look_up(kIq4Levels, nibbles_of_block(dwords + (2 + 4 * outer) * kDwordBytes, i));
  }
};
