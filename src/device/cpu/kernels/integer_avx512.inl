// Integer products in 16 lanes, each with four codes of one matrix row.

LUCE_INLINE VI load_dwords(const uint8_t* p) { return (VI)_mm512_loadu_si512(p); }
LUCE_INLINE VI broadcast_int(int32_t x) { return (VI)_mm512_set1_epi32(x); }
LUCE_INLINE VI broadcast_codes(const int8_t* four) {
  int32_t codes;
  __builtin_memcpy(&codes, four, sizeof codes);
  return broadcast_int(codes);
}
// Keeps the compiler from shifting before it broadcasts.
LUCE_INLINE VI in_vector(VI v) {
  __asm__("" : "+v"(v));
  return v;
}
// The low 16 bits of each lane, an f16.
LUCE_INLINE V low_halves(VI v) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)v)); }
LUCE_INLINE VI look_up(const int8_t* levels, VI nibbles) {
  return (VI)_mm512_shuffle_epi8(_mm512_broadcast_i32x4(load_16_bytes(levels)), (__m512i)nibbles);
}
