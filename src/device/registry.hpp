#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace luce::device {

struct DeviceSettings {
  std::string name = "auto";  // or a name of device_names()
  int threads = 0;            // that compute on the CPU; 0: one per physical core
  std::string isa = "auto";   // of the CPU's kernels
};

/// Names that make_device takes in this build, best first.
std::vector<std::string> device_names();

/// Throws Error{usage} for an unknown name and Error{unsupported} for a device that this build or machine lacks; both
/// list what there is.
std::unique_ptr<Device> make_device(const DeviceSettings& settings);

}  // namespace luce::device
