// Products of four codes with four activations in one instruction.
constexpr int kPanelTile = 8, kPairTile = 4;

// Codes of 0 to 127.
struct NarrowCodes {
  static constexpr int kBiasShift = -1;
  VI codes;
  LUCE_INLINE explicit NarrowCodes(VI of) : codes(of) {}
  LUCE_INLINE VI dot(VI sum, const int8_t* x) const {
    // By hand, since gcc 12 does not broadcast within the instruction.
    __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(codes), "m"(*reinterpret_cast<const int8_t(*)[4]>(x)));
    return sum;
  }
  LUCE_INLINE VI dot(VI sum, VI x) const { return (VI)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)codes, (__m512i)x); }
};
// Codes of -128 to 127, moved up by 128.
struct WideCodes : NarrowCodes {
  static constexpr int kBiasShift = 7;
  LUCE_INLINE explicit WideCodes(VI of) : NarrowCodes(of ^ broadcast_int(static_cast<int32_t>(0x80808080U))) {}
};
