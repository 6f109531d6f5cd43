#pragma once

#include <array>
#include <cstdint>

namespace luce::sampling {

/// xoshiro256** (Blackman and Vigna), seeded through splitmix64: the same numbers on every platform.
class Random {
 public:
  explicit Random(uint64_t seed);
  uint64_t next();
  /// Uniform in [0, 1), 53 bits.
  double uniform();

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace luce::sampling
