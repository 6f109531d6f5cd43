#include "base/memory_state.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "base/cgroup.hpp"

namespace luce::base {
namespace {

constexpr int64_t kNoLimit = int64_t{1} << 60;  // version 1 says "none" with a number near the largest
constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4;

int64_t clamped(std::optional<int64_t> number) { return std::clamp<int64_t>(number.value_or(0), 0, kMost); }

int64_t kib_to_bytes(std::optional<int64_t> kib) { return std::min(clamped(kib), kMost / 1024) * 1024; }

bool is_limited(std::optional<int64_t> limit) { return limit && *limit >= 0 && *limit < kNoLimit; }

/// The innermost group that counts memory for fewer than the whole machine: any of version 2, a limited one of version
/// 1, where every process is in some group.
std::optional<CgroupFolder> own_group(const std::string& root) {
  for (const CgroupFolder& folder : cgroup_folders(root, "memory")) {
    if (folder.is_v2 ? read_number_file(folder.path + "/memory.current").has_value()
                     : is_limited(read_number_file(folder.path + "/memory.limit_in_bytes")))
      return folder;
  }
  return std::nullopt;
}

/// Pages, from "pswpin N" and "pswpout N".
std::optional<int64_t> swap_moves(const std::string& text) {
  const auto in = find_number(text, "pswpin");
  const auto out = find_number(text, "pswpout");
  if (!in && !out) return std::nullopt;
  return clamped(in) + clamped(out);
}

/// The number behind "avg10=" in the line that begins with "full".
double stalled_percent(const std::string& text) {
  const size_t line = text.find("full ");
  const std::string mark = "avg10=";
  const size_t at = line == std::string::npos ? line : text.find(mark, line);
  if (at == std::string::npos) return 0;
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data() + at + mark.size(), text.data() + text.size(), percent);
  return error == std::errc() && percent >= 0 && percent <= 100 ? percent : 0;
}

void read_group(const CgroupFolder& group, MemoryState& state) {
  const std::string text = read_small_file(group.path + "/memory.stat").value_or("");
  const int64_t swapped = group.is_v2 ? clamped(read_number_file(group.path + "/memory.swap.current"))
                                      : clamped(find_number(text, "total_swap"));
  state.swapped_bytes = std::max(state.swapped_bytes, swapped);
  state.swap_moves = swap_moves(text).value_or(state.swap_moves);
  const std::string file = group.path + "/memory.pressure";
  const auto pressure = read_small_file(file);
  if (!pressure) return;
  state.stalled_percent = stalled_percent(*pressure);
  state.stalled_source = file;
}

}  // namespace

MemoryState read_memory_state(const std::string& root) {
  MemoryState state;
  state.limit = read_memory_limit(root);
  const std::string status = read_small_file(root + "/proc/self/status").value_or("");
  state.resident_bytes = kib_to_bytes(find_number(status, "VmRSS"));
  state.swapped_bytes = kib_to_bytes(find_number(status, "VmSwap"));
  state.swap_moves = swap_moves(read_small_file(root + "/proc/vmstat").value_or("")).value_or(0);
  if (const auto group = own_group(root)) read_group(*group, state);
  return state;
}

}  // namespace luce::base
