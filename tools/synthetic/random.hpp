#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace luce::synthetic {

/// The same numbers on every machine and library (splitmix64, Box-Muller).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }
  /// Below `limit`, which is at most 2^32.
  uint64_t below(uint64_t limit) { return (next() >> 32) * limit >> 32; }
  /// Above 0, at most 1.
  double uniform() { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  uint64_t state_;
};

}  // namespace luce::synthetic
