// Formats whose four-bit codes pick one of sixteen levels.

constexpr int8_t kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constexpr int8_t kFp4Levels[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};  // doubled

struct Iq4Nl {
  static constexpr int64_t kUnit = 32, kUnitBytes = 18;

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    nibbles_of_32(p + 2, Codebook(kIq4Levels, broadcast(load_half(p))), 0, sink);
  }
};

struct Iq4Xs {
  static constexpr int64_t kUnit = 256, kUnitBytes = 136;

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    const float scale = load_half(p);
    uint16_t high;
    __builtin_memcpy(&high, p + 2, sizeof high);
#pragma GCC unroll 8
    for (int group = 0; group < 8; ++group) {
      const int low = p[4 + group / 2] >> group % 2 * 4 & 15;
      const int step = (low | (high >> 2 * group & 3) << 4) - 32;
      const Codebook codes(kIq4Levels, broadcast(scale * static_cast<float>(step)));
      nibbles_of_32(p + 8 + 16 * group, codes, 32 * group, sink);
    }
  }
};

struct Mxfp4 {
  static constexpr int64_t kUnit = 32, kUnitBytes = 17;

  // Half of 2^(exponent - 127), subnormal for the two smallest exponents.
  LUCE_INLINE static float half_of_power(uint8_t exponent) {
    const uint32_t bits = exponent < 2 ? 0x00200000U << exponent : (exponent - 1U) << 23;
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  }

  template <typename Sink>
  LUCE_INLINE static void unit(const uint8_t* p, Sink&& sink) {
    nibbles_of_32(p + 1, Codebook(kFp4Levels, broadcast(half_of_power(p[0]))), 0, sink);
  }
};
