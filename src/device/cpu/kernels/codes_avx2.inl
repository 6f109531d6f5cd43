// Products of pairs in 16 bits, then of fours in 32.

LUCE_INLINE VI add_fours(VI sum, __m256i pairs) { return sum + (VI)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)); }
struct NarrowCodes {
  static constexpr int kBiasShift = -1;
  VI codes;
  LUCE_INLINE explicit NarrowCodes(VI of) : codes(of) {}
  LUCE_INLINE VI dot(VI sum, const int8_t* x) const {
    return add_fours(sum, _mm256_maddubs_epi16((__m256i)codes, (__m256i)broadcast_codes(x)));
  }
};
// Magnitudes, so that a pair of products stays within 16 bits; the signs go to the activations.
struct WideCodes {
  static constexpr int kBiasShift = -1;
  __m256i codes, magnitudes;
  LUCE_INLINE explicit WideCodes(VI of) : codes((__m256i)of), magnitudes(_mm256_abs_epi8((__m256i)of)) {}
  LUCE_INLINE VI dot(VI sum, const int8_t* x) const {
    const __m256i turned = _mm256_sign_epi8((__m256i)broadcast_codes(x), codes);
    return add_fours(sum, _mm256_maddubs_epi16(magnitudes, turned));
  }
};
