// Vectors of sixteen floats: AVX-512 F, BW, DQ, VL.
constexpr int kLanes = 16, kByteLanes = 32;
constexpr int kTileWeights = 4, kTileRows = 3, kHeadTile = 4, kColumnTile = 4;
typedef __m512 V;
typedef int32_t VI __attribute__((vector_size(64)));

LUCE_INLINE V broadcast(float x) { return _mm512_set1_ps(x); }
// Eight lanes of `low`, then eight of `high`.
LUCE_INLINE V lanes_around_8(int, float low, float high) {
  return _mm512_mask_blend_ps(0xff00, _mm512_set1_ps(low), _mm512_set1_ps(high));
}
LUCE_INLINE V load(const float* p) { return _mm512_loadu_ps(p); }
LUCE_INLINE void store(float* p, V v) { _mm512_storeu_ps(p, v); }
LUCE_INLINE __mmask16 first_lanes(int64_t n) { return static_cast<__mmask16>((1U << n) - 1U); }
LUCE_INLINE V load_part(const float* p, int64_t n) { return _mm512_maskz_loadu_ps(first_lanes(n), p); }
LUCE_INLINE void store_part(float* p, V v, int64_t n) { _mm512_mask_storeu_ps(p, first_lanes(n), v); }
LUCE_INLINE V fused(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
LUCE_INLINE V larger(V a, V b) { return _mm512_max_ps(a, b); }
LUCE_INLINE V smaller(V a, V b) { return _mm512_min_ps(a, b); }
// Keeps the compiler from loading a value again for each of its uses.
LUCE_INLINE V in_register(V v) {
  __asm__("" : "+v"(v));
  return v;
}
LUCE_INLINE float sum(V v) { return _mm512_reduce_add_ps(v); }
LUCE_INLINE float largest(V v) { return _mm512_reduce_max_ps(v); }
LUCE_INLINE VI as_int(V v) { return (VI)v; }
LUCE_INLINE V as_float(VI v) { return (V)v; }
LUCE_INLINE V to_float(VI v) { return _mm512_cvtepi32_ps((__m512i)v); }

LUCE_INLINE float half_to_float(uint16_t bits) { return _cvtsh_ss(bits); }
LUCE_INLINE uint16_t float_to_half(float value) { return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT); }
LUCE_INLINE __m256i load_32_bytes(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
LUCE_INLINE __m128i load_16_bytes(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
LUCE_INLINE V load_f16(const uint8_t* p) { return _mm512_cvtph_ps(load_32_bytes(p)); }
LUCE_INLINE void store_f16(uint8_t* p, V v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
LUCE_INLINE V load_bf16(const uint8_t* p) { return as_float((VI)_mm512_cvtepu16_epi32(load_32_bytes(p)) << 16); }
LUCE_INLINE VI load_u8(const uint8_t* p) { return (VI)_mm512_cvtepu8_epi32(load_16_bytes(p)); }
LUCE_INLINE VI load_i8(const int8_t* p) { return (VI)_mm512_cvtepi8_epi32(load_16_bytes(p)); }
LUCE_INLINE void store_i8(int8_t* p, VI v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8((__m512i)v));
}

// scale * q + offset for the low four bits q of each lane: all sixteen results lie in one register.
struct Ramp {
  V table;
  LUCE_INLINE Ramp(V scale, V offset)
      : table(fused(_mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), scale, offset)) {}
  LUCE_INLINE V at(VI nibble) const { return _mm512_permutexvar_ps((__m512i)nibble, table); }
};

// Bit i of a word as lane i: all ones if it is set.
LUCE_INLINE VI first_bits(uint32_t word) { return (VI)_mm512_movm_epi32(static_cast<__mmask16>(word)); }

// One of sixteen levels, times a scale, for the low four bits of each lane.
struct Codebook {
  V table;
  LUCE_INLINE Codebook(const int8_t* levels, V scale) : table(to_float(load_i8(levels)) * scale) {}
  LUCE_INLINE V at(VI code) const { return _mm512_permutexvar_ps((__m512i)code, table); }
};
