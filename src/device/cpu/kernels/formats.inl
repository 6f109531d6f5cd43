// How each format becomes vectors of weights. A unit is what a format decodes at once; `sink(i, w0, w1)` takes the
// weights [i, i + 2 kLanes) of a unit, in order. Values equal those of the scalar reference up to one rounding.

LUCE_INLINE int64_t part_of(int64_t rest, int64_t begin) {
  const int64_t n = rest - begin;
  return n < 0 ? 0 : n > kLanes ? kLanes : n;
}

// Factors that are read back from memory, since broadcasting from there is cheaper than from a register.
LUCE_INLINE void in_memory(float* factors) { __asm__("" : "+m"(*reinterpret_cast<float(*)[16]>(factors))); }

// Formats without blocks: any width, the tail is padded with zeros.
struct F32 {
  static constexpr int64_t kBytes = 4;
  LUCE_INLINE static V at(const uint8_t* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
};
struct F16 {
  static constexpr int64_t kBytes = 2;
  LUCE_INLINE static V at(const uint8_t* p) { return load_f16(p); }
};
struct Bf16 {
  static constexpr int64_t kBytes = 2;
  LUCE_INLINE static V at(const uint8_t* p) { return load_bf16(p); }
};

template <typename Element>
struct Plain {
  static constexpr int64_t kUnit = 2 * kLanes;
  static constexpr int64_t kUnitBytes = kUnit * Element::kBytes;

  LUCE_INLINE static V part(const uint8_t* p, int64_t n) {
    uint8_t padded[kLanes * Element::kBytes] = {};
    __builtin_memcpy(padded, p, static_cast<size_t>(n * Element::kBytes));
    return Element::at(padded);
  }
  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    sink(0, Element::at(p), Element::at(p + kLanes * Element::kBytes));
  }
};

struct Q8 {
  static constexpr int64_t kUnit = 32, kUnitBytes = 34;

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    const V scale = broadcast(load_half(p));
    const int8_t* q = reinterpret_cast<const int8_t*>(p + 2);
#pragma GCC unroll 4
    for (int i = 0; i < 32; i += 2 * kLanes)
      sink(i, to_float(load_i8(q + i)) * scale, to_float(load_i8(q + i + kLanes)) * scale);
  }
};

// Four-bit codes of 32 weights in 16 bytes: the low halves are the first 16 weights, the high halves the others.
// `codes` turns the low four bits of each lane into weights.
template <typename Codes, typename Sink>
LUCE_INLINE void nibbles_of_32(const uint8_t* p, const Codes& codes, int at, Sink&& sink) {
  if constexpr (kLanes == 16) {
    sink(at, codes.at(load_u8(p)), codes.at(load_u8(p) >> 4));
  } else {
#pragma GCC unroll 2
    for (int i = 0; i < 16; i += 2 * kLanes) sink(at + i, codes.at(load_u8(p + i)), codes.at(load_u8(p + i + kLanes)));
#pragma GCC unroll 2
    for (int i = 0; i < 16; i += 2 * kLanes)
      sink(at + 16 + i, codes.at(load_u8(p + i) >> 4), codes.at(load_u8(p + i + kLanes) >> 4));
  }
}

struct Q40 {
  static constexpr int64_t kUnit = 32, kUnitBytes = 18;

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    const float scale = load_half(p);
    nibbles_of_32(p + 2, Ramp(broadcast(scale), broadcast(-8 * scale)), 0, sink);
  }
};

struct Q41 {
  static constexpr int64_t kUnit = 32, kUnitBytes = 20;

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    nibbles_of_32(p + 4, Ramp(broadcast(load_half(p)), broadcast(load_half(p + 2))), 0, sink);
  }
};

// Codes of five bits: four in nibbles, the fifth of weight i in bit i of a word.
template <typename Sink>
LUCE_INLINE void fives_of_32(const uint8_t* p, V scale, V offset, Sink&& sink) {
  uint32_t fifths;
  __builtin_memcpy(&fifths, p, sizeof fifths);
  const auto lanes = [&](int i) __attribute__((always_inline)) {
    const VI codes = load_u8(p + 4 + i % 16);
    return (i < 16 ? codes & 15 : codes >> 4) | (first_bits(fifths >> i) & 16);
  };
#pragma GCC unroll 4
  for (int i = 0; i < 32; i += 2 * kLanes)
    sink(i, fused(to_float(lanes(i)), scale, offset), fused(to_float(lanes(i + kLanes)), scale, offset));
}

struct Q50 {
  static constexpr int64_t kUnit = 32, kUnitBytes = 22;

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    const float scale = load_half(p);
    fives_of_32(p + 2, broadcast(scale), broadcast(-16 * scale), sink);
  }
};

struct Q51 {
  static constexpr int64_t kUnit = 32, kUnitBytes = 24;

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    fives_of_32(p + 4, broadcast(load_half(p)), broadcast(load_half(p + 2)), sink);
  }
};
