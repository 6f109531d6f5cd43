#include "base/cgroup.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace luce::base {
namespace {

bool is_folder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Path of this process's group in one hierarchy ("" for the unified one), from the lines "id:controllers:path".
std::optional<std::string> own_group(const std::string& root, std::string_view controller) {
  const auto text = read_small_file(root + "/proc/self/cgroup");
  if (!text) return std::nullopt;
  for (const auto line : split(*text, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos) continue;
    const auto names = split(line.substr(first + 1, second - first - 1), ',');
    if (std::find(names.begin(), names.end(), controller) != names.end()) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

/// Adds mount + group and every parent down to the mount itself.
void add_folders(const std::string& mount, std::string group, bool is_v2, std::vector<CgroupFolder>& folders) {
  if (!is_folder(mount)) return;
  // Inside a container the path may name folders outside of it; the mount is then the group.
  if (group.find("..") != std::string::npos || !is_folder(mount + group)) group.clear();
  while (!group.empty() && group != "/") {
    folders.push_back({mount + group, is_v2});
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
  folders.push_back({mount, is_v2});
}

std::optional<int64_t> leading_number(std::string_view text) {
  const auto start = text.find_first_not_of(" \t:");
  if (start == std::string_view::npos) return std::nullopt;
  text.remove_prefix(start);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace

std::vector<CgroupFolder> cgroup_folders(const std::string& root, std::string_view controller) {
  std::vector<CgroupFolder> folders;
  const std::string mount = root + "/sys/fs/cgroup";
  const auto unified = own_group(root, "").value_or("/");
  const bool is_pure_v2 = read_small_file(mount + "/cgroup.controllers").has_value();
  add_folders(is_pure_v2 ? mount : mount + "/unified", unified, true, folders);
  if (is_pure_v2) return folders;
  const auto group = own_group(root, controller).value_or("/");
  add_folders(mount + "/" + std::string(controller), group, false, folders);
  if (controller == "cpu" && !is_folder(mount + "/cpu")) add_folders(mount + "/cpu,cpuacct", group, false, folders);
  return folders;
}

std::optional<std::string> read_small_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<int64_t> read_number_file(const std::string& path) {
  const auto text = read_small_file(path);
  return text ? leading_number(*text) : std::nullopt;
}

std::optional<int64_t> find_number(std::string_view text, std::string_view key) {
  for (const auto line : split(text, '\n')) {
    if (!line.starts_with(key) || line.size() == key.size()) continue;
    const char next = line[key.size()];
    if (next == ' ' || next == ':' || next == '\t') return leading_number(line.substr(key.size()));
  }
  return std::nullopt;
}

}  // namespace luce::base
