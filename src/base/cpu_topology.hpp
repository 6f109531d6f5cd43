#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace luce::base {

/// What decides how many threads compute: CPUs this process may run on, which of them share a core, and its CPU quota.
struct CpuFacts {
  std::vector<int> allowed_cpus;
  /// CPUs of one core each; empty when the system does not tell, every CPU then counts as a core.
  std::vector<std::vector<int>> cores;
  /// CPUs' worth of time that the control groups grant; nothing when unlimited.
  std::optional<double> quota_cpus;
};

/// CPU numbers of a kernel list such as "0-3,8"; empty when the text is no such list.
std::vector<int> parse_cpu_list(std::string_view text);

/// Facts of this process. `root` stands before /proc and /sys; "" for the running system.
CpuFacts read_cpu_facts(const std::string& root = "");

/// CPUs' worth of quota from the control groups of this process, the tightest one; nothing when unlimited.
std::optional<double> read_cpu_quota(const std::string& root = "");

/// The smaller of the physical cores allowed and the quota rounded down, at least 1.
int default_thread_count(const CpuFacts& facts);

}  // namespace luce::base
