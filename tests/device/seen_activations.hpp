#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "device/cpu/panel_layout.hpp"

namespace luce::device {

/// What a matrix of this format multiplies: x itself, or x as panels take it, in 8 bits with a scale for each 32.
inline std::vector<double> seen_by(tensor::Format format, std::span<const float> x) {
  std::vector<double> seen;
  for (const float value : x) seen.push_back(static_cast<double>(value));
  if (cpu::find_panel_layout(format) == nullptr) return seen;
  for (size_t begin = 0; begin < x.size(); begin += cpu::kActivationBlock) {
    float reach = 0;
    for (size_t i = begin; i < begin + cpu::kActivationBlock; ++i) reach = std::max(reach, std::fabs(x[i]));
    const float inverse = reach > 0 ? 127.0F / reach : 0.0F;
    for (size_t i = begin; i < begin + cpu::kActivationBlock; ++i)
      seen[i] = std::nearbyint(static_cast<double>(x[i] * inverse)) * static_cast<double>(reach / 127.0F);
  }
  return seen;
}

}  // namespace luce::device
