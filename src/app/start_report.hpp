#pragma once

#include <string>
#include <vector>

#include "app/model_assembly.hpp"

namespace luce::app {

/// Measured before anything large is allocated, for the expected speed.
struct MeasuredSpeeds {
  double memory_bytes_per_second = 0;
  double file_bytes_per_second = 0;
};

MeasuredSpeeds measure_speeds(const ModelAssembly& assembly);

/// What a user should know at the start: model, device, budget by purpose, slots and share resident, expected speed,
/// context, and what was asked for but could not be had.
std::vector<std::string> start_lines(const ModelAssembly& assembly, const ModelPath& path,
                                     const MeasuredSpeeds& speeds);

/// Lines of warning: the plan's, the model's notes, and conditions that are not active.
std::vector<std::string> warning_lines(const ModelAssembly& assembly);

}  // namespace luce::app
