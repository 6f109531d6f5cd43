#include "plan/hit_model.hpp"

#include <algorithm>
#include <cmath>

namespace luce::plan {
namespace {
constexpr double kExponent = 0.4;
}

double expected_hit_ratio(double share_resident) { return std::pow(std::clamp(share_resident, 0.0, 1.0), kExponent); }

double share_for_hit_ratio(double hit_ratio) { return std::pow(std::clamp(hit_ratio, 0.0, 1.0), 1.0 / kExponent); }

}  // namespace luce::plan
