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

struct Q4k {
  static constexpr int64_t kUnit = 256, kUnitBytes = 144;

  // Scales of the eight groups of 32, then their offsets; products of f16 and six bits are exact.
  LUCE_INLINE static void group_factors(const uint8_t* block, float* factors) {
    const uint8_t* p = block + 4;
    uint32_t packed[3], unpacked[4];
    __builtin_memcpy(packed, p, sizeof packed);
    unpacked[0] = packed[0] & 0x3f3f3f3fU;
    unpacked[1] = (packed[2] & 0x0f0f0f0fU) | (packed[0] >> 6 & 0x03030303U) << 4;
    unpacked[2] = packed[1] & 0x3f3f3f3fU;
    unpacked[3] = (packed[2] >> 4 & 0x0f0f0f0fU) | (packed[1] >> 6 & 0x03030303U) << 4;
    uint8_t bytes[16];
    __builtin_memcpy(bytes, unpacked, sizeof bytes);
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += kLanes)
      store(factors + i, to_float(load_u8(bytes + i)) * lanes_around_8(i, load_half(block), -load_half(block + 2)));
    in_memory(factors);
  }

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    float factors[16];
    group_factors(p, factors);
#pragma GCC unroll 4
    for (int pair = 0; pair < 4; ++pair) {
      const uint8_t* q = p + 16 + 32 * pair;
      const Ramp low(broadcast(factors[2 * pair]), broadcast(factors[8 + 2 * pair]));
      const Ramp high(broadcast(factors[2 * pair + 1]), broadcast(factors[9 + 2 * pair]));
#pragma GCC unroll 4
      for (int i = 0; i < 32; i += 2 * kLanes)
        sink(64 * pair + i, low.at(load_u8(q + i)), low.at(load_u8(q + i + kLanes)));
#pragma GCC unroll 4
      for (int i = 0; i < 32; i += 2 * kLanes)
        sink(64 * pair + 32 + i, high.at(load_u8(q + i) >> 4), high.at(load_u8(q + i + kLanes) >> 4));
    }
  }
};

struct Q6k {
  static constexpr int64_t kUnit = 256, kUnitBytes = 210;
  typedef uint8_t Bytes __attribute__((vector_size(kByteLanes)));
  typedef uint16_t Words __attribute__((vector_size(kByteLanes)));

  LUCE_INLINE static Bytes bytes_at(const uint8_t* p) {
    Bytes b;
    __builtin_memcpy(&b, p, sizeof b);
    return b;
  }
  // Bits that cross into a byte's neighbour are masked off by the caller.
  template <int kBits>
  LUCE_INLINE static Bytes right(Bytes b) {
    return (Bytes)((Words)b >> kBits);
  }

  // Quarter `kQuarter` of 128 weights: four low bits from `low`, two high bits from `high`.
  template <int kQuarter>
  LUCE_INLINE static void quarter(const uint8_t* low, const uint8_t* high, int8_t* q) {
    for (int i = 0; i < 32; i += kByteLanes) {
      const Bytes nibbles = right<kQuarter / 2 * 4>(bytes_at(low + kQuarter % 2 * 32 + i)) & 15;
      const Bytes crumbs = right<2 * kQuarter>(bytes_at(high + i)) & 3;
      const Bytes joined = (nibbles | (Bytes)((Words)crumbs << 4)) - 32;
      __builtin_memcpy(q + i, &joined, sizeof joined);
    }
  }

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    const V scale = broadcast(load_half(p + 208));
    float factors[16];
    const int8_t* scales = reinterpret_cast<const int8_t*>(p + 192);
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += kLanes) store(factors + i, to_float(load_i8(scales + i)) * scale);
    in_memory(factors);
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      int8_t q[128];
      const uint8_t *low = p + 64 * half, *high = p + 128 + 32 * half;
      quarter<0>(low, high, q);
      quarter<1>(low, high, q + 32);
      quarter<2>(low, high, q + 64);
      quarter<3>(low, high, q + 96);
#pragma GCC unroll 16
      for (int i = 0; i < 128; i += 2 * kLanes) {
        const int at = i + 128 * half;
        const V first = broadcast(factors[at / 16]), second = broadcast(factors[(at + kLanes) / 16]);
        sink(at, to_float(load_i8(q + i)) * first, to_float(load_i8(q + i + kLanes)) * second);
      }
    }
  }
};
