#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace luce::base {

/// A folder with the limits of one control group that this process is in.
struct CgroupFolder {
  std::string path;
  bool is_v2 = false;
};

/// The groups of this process that may limit `controller` ("cpu" or "memory"), innermost first, up to the mount point.
/// `root` stands before /proc and /sys ("" for the running system). Folders that do not exist are left out.
std::vector<CgroupFolder> cgroup_folders(const std::string& root, std::string_view controller);

/// The text of a small file, nothing when it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);

/// The first word of a small file as a number; nothing when it is missing, "max" or no number.
std::optional<int64_t> read_number_file(const std::string& path);

/// The number behind `key` in lines of "key number" or "key: number kB" (the unit is ignored).
std::optional<int64_t> find_number(std::string_view text, std::string_view key);

}  // namespace luce::base
