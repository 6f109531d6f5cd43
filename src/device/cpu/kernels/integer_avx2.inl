// Integer products in 8 lanes, each with four codes of one matrix row.
constexpr int kPanelTile = 4, kPairTile = 0;

LUCE_INLINE VI load_dwords(const uint8_t* p) { return (VI)_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
LUCE_INLINE VI broadcast_int(int32_t x) { return (VI)_mm256_set1_epi32(x); }
LUCE_INLINE VI broadcast_codes(const int8_t* four) {
  int32_t codes;
  __builtin_memcpy(&codes, four, sizeof codes);
  return broadcast_int(codes);
}
// Keeps the compiler from shifting before it broadcasts.
LUCE_INLINE VI in_vector(VI v) {
  __asm__("" : "+x"(v));
  return v;
}
// The low 16 bits of each lane, an f16.
LUCE_INLINE V low_halves(VI v) {
  const __m256i words = _mm256_and_si256((__m256i)v, _mm256_set1_epi32(0xffff));
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(words, words), 0x08);
  return _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
}
LUCE_INLINE VI look_up(const int8_t* levels, VI nibbles) {
  return (VI)_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load_16_bytes(levels)), (__m256i)nibbles);
}
