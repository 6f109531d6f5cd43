#include "base/cpu_topology.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "base/cgroup.hpp"

namespace luce::base {
namespace {

constexpr int kMaxCpu = 1 << 16;

/// Takes a number at the front of `text`; -1 when there is none in range.
int take_number(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value >= kMaxCpu) return -1;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

std::vector<int> affinity_mask() {
  std::vector<int> cpus;
  for (int limit = 1024; limit <= kMaxCpu; limit *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(limit));
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(limit));
    const bool fits = sched_getaffinity(0, bytes, set) == 0;
    for (int cpu = 0; fits && cpu < limit; ++cpu)
      if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set)) cpus.push_back(cpu);
    CPU_FREE(set);
    if (fits) break;
  }
  return cpus;
}

std::vector<int> allowed_cpus(const std::string& root) {
  if (root.empty()) return affinity_mask();
  const auto status = read_small_file(root + "/proc/self/status").value_or("");
  constexpr std::string_view kKey = "Cpus_allowed_list:";
  const auto start = status.find(kKey);
  if (start == std::string::npos) return {};
  const auto line = status.substr(start + kKey.size(), status.find('\n', start) - start - kKey.size());
  return parse_cpu_list(line);
}

std::optional<double> quota_of(const CgroupFolder& folder) {
  if (folder.is_v2) {
    std::istringstream words(read_small_file(folder.path + "/cpu.max").value_or("max"));
    double quota = 0;
    double period = 0;
    words >> quota >> period;  // "max 100000" fails at the first word
    return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
  }
  const auto quota = read_number_file(folder.path + "/cpu.cfs_quota_us");
  const auto period = read_number_file(folder.path + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && text.front() != '\n') {
    const int first = take_number(text);
    int last = first;
    if (!text.empty() && text.front() == '-') {
      text.remove_prefix(1);
      last = take_number(text);
    }
    if (first < 0 || last < first) return {};
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (!text.empty() && text.front() == ',') text.remove_prefix(1);
  }
  return cpus;
}

CpuFacts read_cpu_facts(const std::string& root) {
  CpuFacts facts;
  facts.allowed_cpus = allowed_cpus(root);
  facts.quota_cpus = read_cpu_quota(root);
  for (const int cpu : facts.allowed_cpus) {
    const auto path = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list";
    const auto siblings = parse_cpu_list(read_small_file(path).value_or(""));
    if (!siblings.empty()) facts.cores.push_back(siblings);
  }
  return facts;
}

std::optional<double> read_cpu_quota(const std::string& root) {
  std::optional<double> tightest;
  for (const auto& folder : cgroup_folders(root, "cpu")) {
    const auto quota = quota_of(folder);
    if (quota && (!tightest || *quota < *tightest)) tightest = quota;
  }
  return tightest;
}

int default_thread_count(const CpuFacts& facts) {
  std::set<int> cores;  // each named by its lowest CPU
  for (const int cpu : facts.allowed_cpus) {
    int name = cpu;
    for (const auto& core : facts.cores)
      if (std::find(core.begin(), core.end(), cpu) != core.end()) name = *std::min_element(core.begin(), core.end());
    cores.insert(name);
  }
  double threads = static_cast<double>(cores.size());
  if (facts.quota_cpus) threads = std::min(threads, *facts.quota_cpus);
  return std::max(1, static_cast<int>(threads));
}

}  // namespace luce::base
