#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace luce::device {

/// A value as double arithmetic gives it, and the magnitude that rounding errors are relative to: the sum of the
/// absolute products that went into it.
struct Expected {
  double value = 0;
  double magnitude = 0;
};

/// Every value within constant * eps * magnitude; names the worst element.
inline void expect_close(std::span<const float> got, std::span<const Expected> expected, double constant,
                         const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  constexpr double kEps = std::numeric_limits<float>::epsilon();
  size_t worst = 0;
  double worst_ratio = -1;
  for (size_t i = 0; i < got.size(); ++i) {
    const double bound = constant * kEps * expected[i].magnitude + 1e-37;
    const double ratio = std::fabs(static_cast<double>(got[i]) - expected[i].value) / bound;
    if (!(ratio <= worst_ratio)) {
      worst_ratio = ratio;
      worst = i;
      if (std::isnan(ratio)) break;
    }
  }
  if (got.empty() || worst_ratio <= 1) return;
  FAIL() << what << ": worst element " << worst << ", expected " << expected[worst].value << ", got " << got[worst]
         << ", bound " << constant * kEps * expected[worst].magnitude;
}

/// Normally distributed values, the same for a seed.
inline std::vector<float> random_values(size_t count, unsigned seed, float scale = 1.0F) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(count);
  for (float& value : values) value = normal(engine);
  return values;
}

}  // namespace luce::device
