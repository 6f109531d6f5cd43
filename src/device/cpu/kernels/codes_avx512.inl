// Products of pairs in 16 bits, then of fours in 32.
constexpr int kPanelTile = 4, kPairTile = 0;

LUCE_INLINE VI add_fours(VI sum, __m512i pairs) { return sum + (VI)_mm512_madd_epi16(pairs, _mm512_set1_epi16(1)); }
struct NarrowCodes {
  static constexpr int kBiasShift = -1;
  VI codes;
  LUCE_INLINE explicit NarrowCodes(VI of) : codes(of) {}
  LUCE_INLINE VI dot(VI sum, const int8_t* x) const {
    return add_fours(sum, _mm512_maddubs_epi16((__m512i)codes, (__m512i)broadcast_codes(x)));
  }
};
// Magnitudes, so that a pair of products stays within 16 bits; the signs go to the activations.
struct WideCodes {
  static constexpr int kBiasShift = -1;
  __m512i magnitudes;
  __mmask64 negative;
  LUCE_INLINE explicit WideCodes(VI of)
      : magnitudes(_mm512_abs_epi8((__m512i)of)), negative(_mm512_movepi8_mask((__m512i)of)) {}
  LUCE_INLINE VI dot(VI sum, const int8_t* x) const {
    const __m512i codes = (__m512i)broadcast_codes(x);
    const __m512i turned = _mm512_mask_sub_epi8(codes, negative, _mm512_setzero_si512(), codes);
    return add_fours(sum, _mm512_maddubs_epi16(magnitudes, turned));
  }
};
