#pragma once

#include <string>
#include <vector>

#include "app/settings_sources.hpp"
#include "server/status_routes.hpp"

namespace luce::app {

/// What the machine and model offer, against which settings are judged.
struct Offer {
  std::string architecture;
  bool has_experts = false;
  bool has_gpu = false;
};

/// For each option that was given: whether it has its effect, and if not, why. Throws Error{usage | unsupported} for
/// what must not be ignored, such as a device that is not there.
std::vector<server::Condition> judge_settings(const ResolvedSettings& settings, const Offer& offer);

/// Throws Error{unsupported} if a device was demanded that this program cannot use; before anything is loaded.
void check_device(const DeviceSettings& device);

}  // namespace luce::app
