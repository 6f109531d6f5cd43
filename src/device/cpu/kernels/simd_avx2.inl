// Vectors of eight floats: AVX2, FMA, F16C.
constexpr int kLanes = 8, kByteLanes = 32;
constexpr int kTileWeights = 2, kTileRows = 3, kHeadTile = 2, kColumnTile = 4;
typedef __m256 V;
typedef int32_t VI __attribute__((vector_size(32)));

LUCE_INLINE V broadcast(float x) { return _mm256_set1_ps(x); }
// Lanes [first, first + kLanes) of a row whose first eight values are `low` and whose others are `high`.
LUCE_INLINE V lanes_around_8(int first, float low, float high) { return broadcast(first < 8 ? low : high); }
LUCE_INLINE V load(const float* p) { return _mm256_loadu_ps(p); }
LUCE_INLINE void store(float* p, V v) { _mm256_storeu_ps(p, v); }
LUCE_INLINE __m256i first_lanes(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
LUCE_INLINE V load_part(const float* p, int64_t n) { return _mm256_maskload_ps(p, first_lanes(n)); }
LUCE_INLINE void store_part(float* p, V v, int64_t n) { _mm256_maskstore_ps(p, first_lanes(n), v); }
LUCE_INLINE V fused(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
LUCE_INLINE V larger(V a, V b) { return _mm256_max_ps(a, b); }
LUCE_INLINE V smaller(V a, V b) { return _mm256_min_ps(a, b); }
// Keeps the compiler from loading a value again for each of its uses.
LUCE_INLINE V in_register(V v) {
  __asm__("" : "+x"(v));
  return v;
}
LUCE_INLINE float sum(V v) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
LUCE_INLINE float largest(V v) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
LUCE_INLINE VI as_int(V v) { return (VI)v; }
LUCE_INLINE V as_float(VI v) { return (V)v; }
LUCE_INLINE V to_float(VI v) { return _mm256_cvtepi32_ps((__m256i)v); }

LUCE_INLINE float half_to_float(uint16_t bits) { return _cvtsh_ss(bits); }
LUCE_INLINE uint16_t float_to_half(float value) { return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT); }
LUCE_INLINE __m128i load_16_bytes(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
LUCE_INLINE __m128i load_8_bytes(const void* p) { return _mm_loadl_epi64(static_cast<const __m128i*>(p)); }
LUCE_INLINE V load_f16(const uint8_t* p) { return _mm256_cvtph_ps(load_16_bytes(p)); }
LUCE_INLINE void store_f16(uint8_t* p, V v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
LUCE_INLINE V load_bf16(const uint8_t* p) { return as_float((VI)_mm256_cvtepu16_epi32(load_16_bytes(p)) << 16); }
LUCE_INLINE VI load_u8(const uint8_t* p) { return (VI)_mm256_cvtepu8_epi32(load_8_bytes(p)); }
LUCE_INLINE VI load_i8(const int8_t* p) { return (VI)_mm256_cvtepi8_epi32(load_8_bytes(p)); }
LUCE_INLINE void store_i8(int8_t* p, VI v) {
  const __m128i low = _mm256_castsi256_si128((__m256i)v), high = _mm256_extracti128_si256((__m256i)v, 1);
  const __m128i words = _mm_packs_epi32(low, high);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
}

// scale * q + offset for the low four bits q of each lane.
struct Ramp {
  V scale, offset;
  LUCE_INLINE Ramp(V scale_by, V add) : scale(scale_by), offset(add) {}
  LUCE_INLINE V at(VI nibble) const { return fused(to_float(nibble & 15), scale, offset); }
};

// Bit i of a word as lane i: all ones if it is set.
LUCE_INLINE VI first_bits(uint32_t word) {
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return (VI)_mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(word)), bits), bits);
}

// One of sixteen levels, times a scale, for the low four bits of each lane.
struct Codebook {
  V low, high;
  LUCE_INLINE Codebook(const int8_t* levels, V scale)
      : low(to_float(load_i8(levels)) * scale), high(to_float(load_i8(levels + 8)) * scale) {}
  LUCE_INLINE V at(VI code) const {
    const V first = _mm256_permutevar8x32_ps(low, (__m256i)code),
            second = _mm256_permutevar8x32_ps(high, (__m256i)code);
    return _mm256_blendv_ps(first, second, as_float(code << 28));
  }
};
