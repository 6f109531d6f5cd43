// Products of four codes with four activations in one instruction.

// Codes of 0 to 127.
struct NarrowCodes {
  static constexpr int kBiasShift = -1;
  VI codes;
  LUCE_INLINE explicit NarrowCodes(VI of) : codes(of) {}
  LUCE_INLINE VI dot(VI sum, const int8_t* x) const {
    return (VI)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)codes, (__m256i)broadcast_codes(x));
  }
};
// Codes of -128 to 127, moved up by 128.
struct WideCodes : NarrowCodes {
  static constexpr int kBiasShift = 7;
  LUCE_INLINE explicit WideCodes(VI of) : NarrowCodes(of ^ broadcast_int(static_cast<int32_t>(0x80808080U))) {}
};
