#include "device/registry.hpp"

#include <string_view>

#include "base/error.hpp"
#include "base/format.hpp"
#include "device/cpu/cpu_device.hpp"

namespace luce::device {
namespace {

// "vulkan" or "vulkan:1": the kind before the colon.
std::string_view kind_of(std::string_view name) { return name.substr(0, name.find(':')); }

}  // namespace

std::vector<std::string> device_names() { return {"auto", "cpu"}; }

std::unique_ptr<Device> make_device(const DeviceSettings& settings) {
  if (settings.name == "auto" || settings.name == "cpu")
    return std::make_unique<cpu::CpuDevice>(cpu::CpuSettings{settings.threads, settings.isa});
  const std::string choices = fmt::format("{}", fmt::join(device_names(), ", "));
  const std::string_view kind = kind_of(settings.name);
  if (kind == "vulkan" || kind == "cuda")
    fail(ErrorKind::unsupported, "device: '{}' is not part of this build; choose one of: {}", settings.name, choices);
  fail(ErrorKind::usage, "device: '{}' is unknown; choose one of: {}", settings.name, choices);
}

}  // namespace luce::device
