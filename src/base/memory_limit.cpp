#include "base/memory_limit.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/cgroup.hpp"
#include "base/error.hpp"

namespace luce::base {
namespace {

constexpr int64_t kMaxKib = std::numeric_limits<int64_t>::max() / 1024;
constexpr int64_t kMaxFileBytes = std::numeric_limits<int64_t>::max() / 2;

struct GroupMemory {
  int64_t limit_bytes;
  int64_t free_bytes;
  std::string file;
};

std::optional<int64_t> meminfo_bytes(const std::string& text, const char* key) {
  const auto kib = find_number(text, key);
  if (!kib || *kib < 0 || *kib > kMaxKib) return std::nullopt;
  return *kib * 1024;
}

/// The limit of one group and the file that names it: the tightest where there are several.
std::optional<GroupMemory> read_limit(const CgroupFolder& folder) {
  std::optional<GroupMemory> tightest;
  const auto consider = [&tightest](std::optional<int64_t> bytes, std::string file) {
    if (bytes && *bytes >= 0 && (!tightest || *bytes < tightest->limit_bytes)) tightest = {*bytes, 0, std::move(file)};
  };
  if (folder.is_v2) {
    consider(read_number_file(folder.path + "/memory.max"), folder.path + "/memory.max");
    consider(read_number_file(folder.path + "/memory.high"), folder.path + "/memory.high");
    return tightest;
  }
  consider(read_number_file(folder.path + "/memory.limit_in_bytes"), folder.path + "/memory.limit_in_bytes");
  // Of a parent that may not be visible from here.
  const auto text = read_small_file(folder.path + "/memory.stat").value_or("");
  consider(find_number(text, "hierarchical_memory_limit"), folder.path + "/memory.stat");
  return tightest;
}

/// Page cache that the kernel gives back under pressure; of the recently used half only, as MemAvailable estimates.
int64_t reclaimable_bytes(const CgroupFolder& folder) {
  const auto text = read_small_file(folder.path + "/memory.stat").value_or("");
  const std::string prefix = folder.is_v2 ? "" : "total_";
  const auto inactive = std::max<int64_t>(0, find_number(text, prefix + "inactive_file").value_or(0));
  const auto active = std::max<int64_t>(0, find_number(text, prefix + "active_file").value_or(0));
  return std::min(inactive, kMaxFileBytes) + std::min(active, kMaxFileBytes) / 2;
}

std::optional<GroupMemory> read_group(const CgroupFolder& folder) {
  auto group = read_limit(folder);
  if (!group) return std::nullopt;
  const auto used = read_number_file(folder.path + (folder.is_v2 ? "/memory.current" : "/memory.usage_in_bytes"));
  const int64_t used_bytes = std::max<int64_t>(0, used.value_or(0));
  const int64_t held_bytes = std::max<int64_t>(0, used_bytes - std::min(used_bytes, reclaimable_bytes(folder)));
  group->free_bytes = group->limit_bytes - std::min(group->limit_bytes, held_bytes);
  return group;
}

}  // namespace

MemoryLimit read_memory_limit(const std::string& root) {
  const std::string meminfo_file = root + "/proc/meminfo";
  const auto text = read_small_file(meminfo_file);
  const auto total = text ? meminfo_bytes(*text, "MemTotal") : std::nullopt;
  if (!total) fail(ErrorKind::io, "cannot read MemTotal from {}; give the memory to use as a size", meminfo_file);
  // Kernels before 3.14 lack MemAvailable.
  const auto available = meminfo_bytes(*text, "MemAvailable");
  const auto free = meminfo_bytes(*text, "MemFree").value_or(0);
  MemoryLimit limit{*total, std::min(*total, available.value_or(free)), false, meminfo_file};
  for (const auto& folder : cgroup_folders(root, "memory")) {
    const auto group = read_group(folder);
    if (!group) continue;
    limit.total_bytes = std::min(limit.total_bytes, group->limit_bytes);
    if (group->free_bytes >= limit.available_bytes) continue;
    limit.available_bytes = group->free_bytes;
    limit.is_container = true;
    limit.source = group->file;
  }
  return limit;
}

int64_t resident_bytes() {
  const auto status = read_small_file("/proc/self/status").value_or("");
  return find_number(status, "VmRSS").value_or(0) * 1024;
}

}  // namespace luce::base
