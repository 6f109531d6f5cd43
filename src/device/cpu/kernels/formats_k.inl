// Formats of 256 weights with scales of 16 or 32 weights that are quantised themselves.

typedef uint8_t Bytes __attribute__((vector_size(kByteLanes)));
typedef uint16_t Words __attribute__((vector_size(kByteLanes)));

LUCE_INLINE Bytes bytes_at(const uint8_t* p) {
  Bytes b;
  __builtin_memcpy(&b, p, sizeof b);
  return b;
}
// Each byte moved right by some bits; those that come from its neighbour must lie outside the mask.
LUCE_INLINE Bytes bits_of(Bytes b, int first, uint8_t mask) { return (Bytes)((Words)b >> first) & mask; }
LUCE_INLINE Bytes left(Bytes b, int bits) { return (Bytes)((Words)b << bits); }
LUCE_INLINE void put_bytes(int8_t* to, Bytes b) { __builtin_memcpy(to, &b, sizeof b); }

// Codes of some weights from `at` on, as whole numbers, times the factor of their 16.
template <int kCount, typename Sink>
LUCE_INLINE void scale_sixteens(const int8_t* codes, const float* factors, int at, Sink&& sink) {
#pragma GCC unroll 32
  for (int i = 0; i < kCount; i += 2 * kLanes) {
    const V first = broadcast(factors[(at + i) / 16]), second = broadcast(factors[(at + i + kLanes) / 16]);
    sink(at + i, to_float(load_i8(codes + i)) * first, to_float(load_i8(codes + i + kLanes)) * second);
  }
}

// Sixteen small whole numbers as floats, times a factor; such products are exact.
LUCE_INLINE void scale_factors(const int8_t* scales, float by, float* factors) {
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += kLanes) store(factors + i, to_float(load_i8(scales + i)) * broadcast(by));
  in_memory(factors);
}

struct Q2k {
  static constexpr int64_t kUnit = 256, kUnitBytes = 84;

  // Steps of the sixteen groups of 16, and what is added to each.
  struct Factors {
    float steps[16], bases[16];

    LUCE_INLINE explicit Factors(const uint8_t* p) {
#pragma GCC unroll 4
      for (int i = 0; i < 16; i += kLanes) {
        const VI packed = load_u8(p + i);
        store(steps + i, to_float(packed & 15) * broadcast(load_half(p + 80)));
        store(bases + i, to_float(packed >> 4) * broadcast(-load_half(p + 82)));
      }
      in_memory(steps);
      in_memory(bases);
    }
    LUCE_INLINE V weights(V codes, int at) const {
      return fused(codes, broadcast(steps[at / 16]), broadcast(bases[at / 16]));
    }
  };

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    const Factors factors(p);
#pragma GCC unroll 8
    for (int group = 0; group < 8; ++group) {
      int8_t q[32];
      for (int i = 0; i < 32; i += kByteLanes)
        put_bytes(q + i, bits_of(bytes_at(p + 16 + group / 4 * 32 + i), group % 4 * 2, 3));
#pragma GCC unroll 4
      for (int i = 0; i < 32; i += 2 * kLanes) {
        const int at = 32 * group + i;
        sink(at, factors.weights(to_float(load_i8(q + i)), at),
             factors.weights(to_float(load_i8(q + i + kLanes)), at + kLanes));
      }
    }
  }
};

struct Q3k {
  static constexpr int64_t kUnit = 256, kUnitBytes = 110;

  // Six bits each: four in nibbles of eight bytes, two in the four bytes after them; stored plus 32.
  LUCE_INLINE static void unpack_scales(const uint8_t* p, int8_t* scales) {
    uint32_t low[2], high;
    __builtin_memcpy(low, p, sizeof low);
    __builtin_memcpy(&high, p + 8, sizeof high);
    uint32_t joined[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      joined[i] = (low[i % 2] >> i / 2 * 4 & 0x0f0f0f0fU) | (high >> 2 * i & 0x03030303U) << 4;
    __builtin_memcpy(scales, joined, sizeof joined);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) scales[i] = static_cast<int8_t>(scales[i] - 32);
  }

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    int8_t scales[16];
    unpack_scales(p + 96, scales);
    float factors[16];
    scale_factors(scales, load_half(p + 108), factors);
#pragma GCC unroll 8
    for (int group = 0; group < 8; ++group) {
      int8_t q[32];
      for (int i = 0; i < 32; i += kByteLanes) {
        const Bytes low = bits_of(bytes_at(p + 32 + group / 4 * 32 + i), group % 4 * 2, 3);
        put_bytes(q + i, (low | left(bits_of(bytes_at(p + i), group, 1), 2)) - 4);
      }
      scale_sixteens<32>(q, factors, 32 * group, sink);
    }
  }
};

// Scales of the eight groups of 32 in Q4_K and Q5_K, then their offsets; products of f16 and six bits are exact.
LUCE_INLINE void group_factors(const uint8_t* block, float* factors) {
  uint32_t packed[3], unpacked[4];
  __builtin_memcpy(packed, block + 4, sizeof packed);
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

struct Q4k {
  static constexpr int64_t kUnit = 256, kUnitBytes = 144;

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

struct Q5k {
  static constexpr int64_t kUnit = 256, kUnitBytes = 176;

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    float factors[16];
    group_factors(p, factors);
#pragma GCC unroll 8
    for (int group = 0; group < 8; ++group) {
      int8_t q[32];
      for (int i = 0; i < 32; i += kByteLanes) {
        const Bytes low = bits_of(bytes_at(p + 48 + group / 2 * 32 + i), group % 2 * 4, 15);
        put_bytes(q + i, low | left(bits_of(bytes_at(p + 16 + i), group, 1), 4));
      }
      const V scale = broadcast(factors[group]), offset = broadcast(factors[8 + group]);
#pragma GCC unroll 4
      for (int i = 0; i < 32; i += 2 * kLanes)
        sink(32 * group + i, fused(to_float(load_i8(q + i)), scale, offset),
             fused(to_float(load_i8(q + i + kLanes)), scale, offset));
    }
  }
};

struct Q6k {
  static constexpr int64_t kUnit = 256, kUnitBytes = 210;

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    float factors[16];
    scale_factors(reinterpret_cast<const int8_t*>(p + 192), load_half(p + 208), factors);
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      int8_t q[128];
#pragma GCC unroll 4
      for (int quarter = 0; quarter < 4; ++quarter)
        for (int i = 0; i < 32; i += kByteLanes) {
          const Bytes low = bits_of(bytes_at(p + 64 * half + quarter % 2 * 32 + i), quarter / 2 * 4, 15);
          const Bytes high = bits_of(bytes_at(p + 128 + 32 * half + i), 2 * quarter, 3);
          put_bytes(q + 32 * quarter + i, (low | left(high, 4)) - 32);
        }
      scale_sixteens<128>(q, factors, 128 * half, sink);
    }
  }
};
