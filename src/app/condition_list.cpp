#include "app/condition_list.hpp"

#include <array>

#include "base/error.hpp"
#include "base/format.hpp"

namespace luce::app {
namespace {

constexpr std::array kExpertFlags = {
    "gpu-cache-experts",   "expert-share", "eviction-policy", "warmup-tokens", "stats-window",
    "route-trace",         "hot-bias",     "balance-penalty", "router-top-k",  "router-temperature",
    "router-profile-path", "cpu-moe",      "n-cpu-moe"};
constexpr std::array kGpuFlags = {"gpu-memory", "cpu-moe", "n-cpu-moe", "reproducible"};

class Judge {
 public:
  Judge(const ResolvedSettings& settings, const Offer& offer) : settings_(settings), offer_(offer) {}

  std::vector<server::Condition> run() {
    if (!offer_.has_experts) {
      for (const char* flag : kExpertFlags)
        inactive(flag, fmt::format("the model ({}) has no experts", offer_.architecture));
    } else {
      judge_bias();
    }
    if (!offer_.has_gpu)
      for (const char* flag : kGpuFlags) inactive(flag, "no GPU is in use; --ram-memory bounds the cache");
    return std::move(conditions_);
  }

 private:
  void judge_bias() {
    const bool biased = settings_.values.router.hot_bias > 0;
    if (biased) return;
    inactive("balance-penalty", "no bias");
  }

  void inactive(const char* flag, std::string reason) {
    if (!settings_.is_given(flag) || is_harmless(flag)) return;
    for (const server::Condition& each : conditions_)
      if (each.name == flag) return;
    conditions_.push_back({flag, "inactive", std::move(reason)});
  }

  /// Values that say "off" ask for nothing.
  bool is_harmless(const std::string& flag) const {
    const Option* const option = find_flag(flag);
    return option->show(settings_.values) == option->show(Settings{}) && option->value == nullptr;
  }

  const ResolvedSettings& settings_;
  const Offer& offer_;
  std::vector<server::Condition> conditions_;
};

}  // namespace

std::vector<server::Condition> judge_settings(const ResolvedSettings& settings, const Offer& offer) {
  return Judge(settings, offer).run();
}

void check_device(const DeviceSettings& device) {
  if (device.device == "auto" || device.device == "cpu") return;
  fail(ErrorKind::unsupported,
       "--device {} cannot be had: this build of luce-spark computes on the CPU; use --device cpu", device.device);
}

}  // namespace luce::app
