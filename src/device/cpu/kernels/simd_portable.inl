// Vectors of four floats in the compiler's own terms: SSE2 on x86-64, NEON on ARM.
constexpr int kLanes = 4, kByteLanes = 16;
constexpr int kTileWeights = 2, kTileRows = 3, kHeadTile = 2, kColumnTile = 4;
typedef float V __attribute__((vector_size(16)));
typedef int32_t VI __attribute__((vector_size(16)));

LUCE_INLINE V broadcast(float x) { return V{x, x, x, x}; }
// Lanes [first, first + kLanes) of a row whose first eight values are `low` and whose others are `high`.
LUCE_INLINE V lanes_around_8(int first, float low, float high) { return broadcast(first < 8 ? low : high); }
LUCE_INLINE V load(const float* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
LUCE_INLINE void store(float* p, V v) { __builtin_memcpy(p, &v, sizeof v); }
LUCE_INLINE V load_part(const float* p, int64_t n) {
  V v = {};
  for (int i = 0; i < n; ++i) v[i] = p[i];
  return v;
}
LUCE_INLINE void store_part(float* p, V v, int64_t n) {
  for (int i = 0; i < n; ++i) p[i] = v[i];
}
LUCE_INLINE V fused(V a, V b, V c) { return a * b + c; }
LUCE_INLINE V larger(V a, V b) { return a > b ? a : b; }
LUCE_INLINE V smaller(V a, V b) { return a < b ? a : b; }
// Keeps the compiler from loading a value again for each of its uses.
LUCE_INLINE V in_register(V v) {
#if defined(__x86_64__)
  __asm__("" : "+x"(v));
#endif
  return v;
}
LUCE_INLINE float sum(V v) { return (v[0] + v[2]) + (v[1] + v[3]); }
LUCE_INLINE float largest(V v) {
  float best = v[0];
  for (int i = 1; i < kLanes; ++i) best = v[i] > best ? v[i] : best;
  return best;
}
LUCE_INLINE VI as_int(V v) { return (VI)v; }
LUCE_INLINE V as_float(VI v) { return (V)v; }
LUCE_INLINE V to_float(VI v) { return __builtin_convertvector(v, V); }

// IEEE 754 binary16, by shifting the exponent's place and letting a multiplication rebias it, subnormals included.
LUCE_INLINE float half_to_float(uint16_t bits) {
  const uint32_t magnitude = uint32_t{bits} & 0x7fffU;
  const uint32_t shifted = magnitude << 13;
  float value;
  __builtin_memcpy(&value, &shifted, sizeof value);
  value *= 0x1p112F;
  uint32_t result;
  __builtin_memcpy(&result, &value, sizeof result);
  if (magnitude >= 0x7c00U) result = 0x7f800000U | (magnitude & 0x3ffU) << 13;
  result |= (uint32_t{bits} & 0x8000U) << 16;
  __builtin_memcpy(&value, &result, sizeof value);
  return value;
}

// Rounds to nearest even; overflow becomes infinity.
LUCE_INLINE uint16_t float_to_half(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  const uint32_t sign = bits >> 16 & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<uint16_t>(sign | 0x7e00U);
  if (magnitude >= 0x477ff000U) return static_cast<uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x38800000U) {  // subnormal: the adder rounds at 2^-24
    float small;
    __builtin_memcpy(&small, &magnitude, sizeof small);
    small += 0.5F;
    uint32_t rounded;
    __builtin_memcpy(&rounded, &small, sizeof rounded);
    return static_cast<uint16_t>(sign | (rounded - 0x3f000000U));
  }
  const uint32_t rounded = magnitude + 0xfffU + (magnitude >> 13 & 1U) - 0x38000000U;
  return static_cast<uint16_t>(sign | rounded >> 13);
}

LUCE_INLINE VI load_u16(const uint8_t* p) {
  uint16_t bits[kLanes];
  __builtin_memcpy(bits, p, sizeof bits);
  return VI{bits[0], bits[1], bits[2], bits[3]};
}
LUCE_INLINE V load_f16(const uint8_t* p) {
  const VI bits = load_u16(p), magnitude = bits & 0x7fff;
  const VI finite = as_int(as_float(magnitude << 13) * 0x1p112F);
  const VI wide = magnitude >= 0x7c00 ? 0x7f800000 | (magnitude & 0x3ff) << 13 : finite;
  return as_float(wide | (bits & 0x8000) << 16);
}
LUCE_INLINE void store_f16(uint8_t* p, V v) {
  uint16_t bits[kLanes];
  for (int i = 0; i < kLanes; ++i) bits[i] = float_to_half(v[i]);
  __builtin_memcpy(p, bits, sizeof bits);
}
LUCE_INLINE V load_bf16(const uint8_t* p) { return as_float(load_u16(p) << 16); }
LUCE_INLINE VI load_u8(const uint8_t* p) { return VI{p[0], p[1], p[2], p[3]}; }
LUCE_INLINE VI load_i8(const int8_t* p) { return VI{p[0], p[1], p[2], p[3]}; }
LUCE_INLINE void store_i8(int8_t* p, VI v) {
  for (int i = 0; i < kLanes; ++i) p[i] = static_cast<int8_t>(v[i]);
}

// scale * q + offset for the low four bits q of each lane.
struct Ramp {
  V scale, offset;
  LUCE_INLINE Ramp(V scale_by, V add) : scale(scale_by), offset(add) {}
  LUCE_INLINE V at(VI nibble) const { return fused(to_float(nibble & 15), scale, offset); }
};

// Bit i of a word as lane i: all ones if it is set.
LUCE_INLINE VI first_bits(uint32_t word) {
  const int32_t bits = static_cast<int32_t>(word & 15);
  return (VI{bits, bits, bits, bits} & VI{1, 2, 4, 8}) != 0;
}

// One of sixteen levels, times a scale, for the low four bits of each lane.
struct Codebook {
  const int8_t* levels;
  V scale;
  LUCE_INLINE Codebook(const int8_t* of, V scale_by) : levels(of), scale(scale_by) {}
  LUCE_INLINE V at(VI code) const {
    const VI level = {levels[code[0] & 15], levels[code[1] & 15], levels[code[2] & 15], levels[code[3] & 15]};
    return to_float(level) * scale;
  }
};
