#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/cgroup.hpp"
#include "base/cpu_topology.hpp"
#include "base/error.hpp"
#include "base/memory_limit.hpp"
#include "support/fake_root.hpp"
#include "support/golden_path.hpp"

namespace luce::base {
namespace {

using nlohmann::json;
using Files = support::FakeRoot::Files;

using support::FakeRoot;

json golden_rows(const std::string& id) {
  std::ifstream file(support::golden_path("cases/memory.jsonl"));
  for (std::string line; std::getline(file, line);) {
    auto row = json::parse(line);
    if (row["id"] == id) return row["given"];
  }
  throw std::runtime_error("no case " + id);
}

constexpr const char* kV2 = "/sys/fs/cgroup/cgroup.controllers";

TEST(MemoryLimit, ContainerOfVersion2) {
  const auto given = golden_rows("free-memory-cgroup-v2");
  const std::vector<std::pair<int64_t, int64_t>> expected = {
      {30720000000, 30720000000}, {13958643712, 15032385536}, {30720000000, 30720000000}};
  ASSERT_EQ(given["rows"].size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    Files files = {{"/proc/meminfo", given["meminfo"]}, {"/proc/self/cgroup", "0::/\n"}, {kV2, "cpu memory\n"}};
    for (const auto& [name, text] : given["rows"][i].items()) files["/sys/fs/cgroup/" + name] = text;
    const FakeRoot root(files);
    const auto limit = read_memory_limit(root.path());
    EXPECT_GE(limit.available_bytes, expected[i].first) << i;
    EXPECT_LE(limit.available_bytes, expected[i].second) << i;
    EXPECT_EQ(limit.is_container, i == 1);
    EXPECT_EQ(limit.total_bytes, i == 1 ? 17179869184 : 33554432LL * 1024);
  }
}

TEST(MemoryLimit, ContainerOfVersion1AndItsParents) {
  const Files files = {
      {"/proc/meminfo", "MemTotal: 33554432 kB\nMemFree: 30000000 kB\nMemAvailable: 30000000 kB\n"},
      {"/proc/self/cgroup", "4:cpu,cpuacct:/a\n3:memory:/outer/inner\n0::/\n"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
      {"/sys/fs/cgroup/memory/memory.usage_in_bytes", "5000000000\n"},
      {"/sys/fs/cgroup/memory/outer/memory.limit_in_bytes", "1073741824\n"},
      {"/sys/fs/cgroup/memory/outer/memory.usage_in_bytes", "536870912\n"},
      {"/sys/fs/cgroup/memory/outer/memory.stat",
       "inactive_file 7\ntotal_inactive_file 268435456\ntotal_active_file 0\n"},
      {"/sys/fs/cgroup/memory/outer/inner/memory.limit_in_bytes", "9223372036854771712\n"},
      {"/sys/fs/cgroup/memory/outer/inner/memory.usage_in_bytes", "1000\n"},
  };
  const FakeRoot root(files);
  const auto limit = read_memory_limit(root.path());
  EXPECT_EQ(limit.available_bytes, 1073741824 - (536870912 - 268435456));
  EXPECT_EQ(limit.total_bytes, 1073741824);
  EXPECT_TRUE(limit.is_container);
  EXPECT_NE(limit.source.find("outer/memory.limit_in_bytes"), std::string::npos);
}

TEST(MemoryLimit, PathFromOutsideTheContainerMeansTheMount) {
  const Files files = {{"/proc/meminfo", "MemTotal: 33554432 kB\nMemAvailable: 30000000 kB\n"},
                       {"/proc/self/cgroup", "3:memory:/docker/0123\n"},
                       {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n"},
                       {"/sys/fs/cgroup/memory/memory.usage_in_bytes", "600000000\n"}};
  const FakeRoot root(files);
  EXPECT_EQ(read_memory_limit(root.path()).available_bytes, 0);
}

TEST(MemoryLimit, NoLimitsMeansTheHost) {
  const FakeRoot root(Files{{"/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 200 kB\n"}});
  const auto limit = read_memory_limit(root.path());
  EXPECT_EQ(limit.total_bytes, 1024000);
  EXPECT_EQ(limit.available_bytes, 204800);
  EXPECT_FALSE(limit.is_container);
}

TEST(MemoryLimit, UnreadableHostIsAnError) {
  const FakeRoot empty(Files{});
  EXPECT_THROW(read_memory_limit(empty.path()), Error);
  const FakeRoot absurd(Files{{"/proc/meminfo", "MemTotal: 9223372036854775807 kB\n"}});
  EXPECT_THROW(read_memory_limit(absurd.path()), Error);
}

TEST(MemoryLimit, ThisMachineHasSome) {
  const auto limit = read_memory_limit();
  EXPECT_GT(limit.total_bytes, 0);
  EXPECT_LE(limit.available_bytes, limit.total_bytes);
  EXPECT_GT(resident_bytes(), 1 << 20);
}

TEST(ThreadCount, FromCpuQuota) {
  const auto given = golden_rows("threads-from-cpu-quota");
  const std::vector<int> expected = {4, 8, 2, 1, 8};
  ASSERT_EQ(given["rows"].size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto& row = given["rows"][i];
    const int cpus = row["allowed_cpus"];
    const int cores = cpus / row["smt"].get<int>();
    Files files = {{"/proc/self/cgroup", "0::/box\n"},
                   {kV2, "cpu\n"},
                   {"/sys/fs/cgroup/box/cpu.max", row["cpu.max"]},
                   {"/proc/self/status", "Cpus_allowed_list:\t0-" + std::to_string(cpus - 1) + "\nother: 1\n"}};
    for (int cpu = 0; row["smt"] == 2 && cpu < cpus; ++cpu)
      files["/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list"] =
          std::to_string(cpu % cores) + "," + std::to_string(cpu % cores + cores) + "\n";
    const FakeRoot root(files);
    EXPECT_EQ(default_thread_count(read_cpu_facts(root.path())), expected[i]) << row;
  }
}

std::vector<std::vector<int>> parse_cores(const std::string& text) {
  std::vector<std::vector<int>> cores;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');)
    if (const auto core = parse_cpu_list(part); !core.empty()) cores.push_back(core);
  return cores;
}

TEST(ThreadCount, FromMaskAndSiblings) {
  const auto given = golden_rows("threads-from-mask-and-siblings");
  const std::vector<int> expected = {4, 4, 1, 3, 8, 3, 8};
  ASSERT_EQ(given["rows"].size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto& row = given["rows"][i];
    Files files = {{"/proc/self/cgroup", "2:cpu,cpuacct:/\n"}};
    for (const char* name : {"cpu.cfs_quota_us", "cpu.cfs_period_us"})
      if (row.contains(name)) files[std::string("/sys/fs/cgroup/cpu,cpuacct/") + name] = row[name];
    const FakeRoot root(files);
    const CpuFacts facts{parse_cpu_list(row["allowed"].get<std::string>()), parse_cores(row["siblings"]),
                         read_cpu_quota(root.path())};
    EXPECT_EQ(default_thread_count(facts), expected[i]) << row;
  }
}

TEST(ThreadCount, IsAtLeastOne) {
  EXPECT_EQ(default_thread_count({}), 1);
  EXPECT_EQ(default_thread_count({{0, 1}, {}, 0.25}), 1);
  EXPECT_GE(default_thread_count(read_cpu_facts()), 1);
}

TEST(CpuList, RefusesWhatIsNoList) {
  EXPECT_EQ(parse_cpu_list("0-2,5\n"), (std::vector<int>{0, 1, 2, 5}));
  for (const char* text : {"", "x", "3-1", "1-", "-1", "0,,1", "0;1", "99999999999", "0-999999999"})
    EXPECT_TRUE(parse_cpu_list(text).empty()) << text;
}

}  // namespace
}  // namespace luce::base
