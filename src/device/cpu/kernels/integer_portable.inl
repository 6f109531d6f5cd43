// Integer products in 4 lanes, each with four codes of one matrix row.
constexpr int kPanelTile = 2, kPairTile = 0;
typedef int16_t Halves __attribute__((vector_size(16)));

LUCE_INLINE VI load_dwords(const uint8_t* p) {
  VI v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
LUCE_INLINE VI broadcast_int(int32_t x) { return VI{x, x, x, x}; }
LUCE_INLINE VI broadcast_codes(const int8_t* four) {
  int32_t codes;
  __builtin_memcpy(&codes, four, sizeof codes);
  return broadcast_int(codes);
}
LUCE_INLINE VI in_vector(VI v) { return v; }
// The low 16 bits of each lane, an f16.
LUCE_INLINE V low_halves(VI v) {
  const VI magnitude = v & 0x7fff;
  const VI finite = as_int(as_float(magnitude << 13) * 0x1p112F);
  const VI wide = magnitude >= 0x7c00 ? 0x7f800000 | (magnitude & 0x3ff) << 13 : finite;
  return as_float(wide | (v & 0x8000) << 16);
}
LUCE_INLINE VI look_up(const int8_t* levels, VI nibbles) {
  uint8_t codes[16];
  int8_t found[16];
  __builtin_memcpy(codes, &nibbles, sizeof codes);
  for (int i = 0; i < 16; ++i) found[i] = levels[codes[i]];
  return load_dwords(reinterpret_cast<const uint8_t*>(found));
}

// Sums of the products of neighbouring 16-bit numbers.
LUCE_INLINE VI multiply_pairs(Halves a, Halves b) {
#if defined(__SSE2__)
  return (VI)__builtin_ia32_pmaddwd128(a, b);
#else
  VI sums;
  for (int i = 0; i < 4; ++i) sums[i] = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
  return sums;
#endif
}
LUCE_INLINE Halves even_bytes(VI v) { return (Halves)((Halves)v << 8) >> 8; }
LUCE_INLINE Halves odd_bytes(VI v) { return (Halves)v >> 8; }

// Codes of -128 to 127 as 16-bit numbers: even and odd ones apart.
struct NarrowCodes {
  static constexpr int kBiasShift = -1;
  Halves even, odd;
  LUCE_INLINE explicit NarrowCodes(VI of) : even(even_bytes(of)), odd(odd_bytes(of)) {}
  LUCE_INLINE VI dot(VI sum, const int8_t* x) const {
    const VI codes = broadcast_codes(x);
    return sum + multiply_pairs(even, even_bytes(codes)) + multiply_pairs(odd, odd_bytes(codes));
  }
};
using WideCodes = NarrowCodes;
