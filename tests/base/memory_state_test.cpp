#include "base/memory_state.hpp"

#include <gtest/gtest.h>

#include "support/fake_root.hpp"

namespace luce::base {
namespace {

using support::FakeRoot;
using Files = FakeRoot::Files;

constexpr const char* kMeminfo = "MemTotal: 33554432 kB\nMemAvailable: 30000000 kB\n";

Files version_2() {
  return {{"/proc/meminfo", kMeminfo},
          {"/proc/self/cgroup", "0::/pod/server\n"},
          {"/proc/self/status", "VmRSS:\t  700000 kB\nVmSwap:\t  20 kB\n"},
          {"/proc/vmstat", "pswpin 900\npswpout 100\n"},
          {"/sys/fs/cgroup/cgroup.controllers", "cpu memory\n"},
          {"/sys/fs/cgroup/pod/memory.max", "4294967296\n"},
          {"/sys/fs/cgroup/pod/memory.current", "1500000000\n"},
          {"/sys/fs/cgroup/pod/server/memory.max", "2147483648\n"},
          {"/sys/fs/cgroup/pod/server/memory.high", "1073741824\n"},
          {"/sys/fs/cgroup/pod/server/memory.current", "1000000000\n"},
          {"/sys/fs/cgroup/pod/server/memory.stat", "inactive_file 100000000\nactive_file 0\npswpin 3\npswpout 4\n"},
          {"/sys/fs/cgroup/pod/server/memory.swap.current", "50331648\n"},
          {"/sys/fs/cgroup/pod/server/memory.pressure",
           "some avg10=44.00 avg60=1.00 avg300=0.00 total=5\nfull avg10=12.50 avg60=0.00 avg300=0.00 total=1\n"}};
}

TEST(MemoryState, TellsSwapAndPressureOfAGroupOfVersion2) {
  const FakeRoot root(version_2());
  const MemoryState state = read_memory_state(root.path());
  EXPECT_EQ(state.resident_bytes, 700000 * 1024);
  EXPECT_EQ(state.swapped_bytes, 50331648);
  EXPECT_EQ(state.swap_moves, 7);
  EXPECT_EQ(state.stalled_percent, 12.5);
  EXPECT_NE(state.stalled_source.find("pod/server/memory.pressure"), std::string::npos);
}

TEST(MemoryState, TheSoftLimitOfVersion2IsALimit) {
  const FakeRoot root(version_2());
  const MemoryLimit limit = read_memory_limit(root.path());
  EXPECT_EQ(limit.total_bytes, 1073741824);
  EXPECT_EQ(limit.available_bytes, 1073741824 - 900000000);
  EXPECT_NE(limit.source.find("memory.high"), std::string::npos);
}

TEST(MemoryState, VersionOneKnowsALimitAboveTheMount) {
  const FakeRoot root(Files{{"/proc/meminfo", kMeminfo},
                            {"/proc/self/cgroup", "4:memory:/\n0::/\n"},
                            {"/proc/vmstat", "pswpin 900\npswpout 100\n"},
                            {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n"},
                            {"/sys/fs/cgroup/memory/memory.usage_in_bytes", "100000000\n"},
                            {"/sys/fs/cgroup/memory/memory.stat",
                             "hierarchical_memory_limit 1073741824\ntotal_swap 33554432\ntotal_inactive_file 0\n"}});
  const MemoryState state = read_memory_state(root.path());
  EXPECT_EQ(state.limit.total_bytes, 1073741824);
  EXPECT_EQ(state.limit.available_bytes, 1073741824 - 100000000);
  EXPECT_EQ(state.swapped_bytes, 33554432);
  EXPECT_EQ(state.swap_moves, 1000);
  EXPECT_EQ(state.stalled_percent, 0);
}

TEST(MemoryState, SwapOfTheWholeMachineIsNotOurs) {
  const FakeRoot root(Files{{"/proc/meminfo", kMeminfo},
                            {"/proc/self/cgroup", "4:memory:/\n"},
                            {"/proc/self/status", "VmSwap: 8 kB\n"},
                            {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
                            {"/sys/fs/cgroup/memory/memory.usage_in_bytes", "100000000\n"},
                            {"/sys/fs/cgroup/memory/memory.stat", "total_swap 33554432\n"}});
  EXPECT_EQ(read_memory_state(root.path()).swapped_bytes, 8192);
}

TEST(MemoryState, NonsenseIsNothing) {
  Files files = version_2();
  files["/sys/fs/cgroup/pod/server/memory.pressure"] = "full avg10=-3 avg60\nfull\n";
  files["/sys/fs/cgroup/pod/server/memory.swap.current"] = "-5\n";
  files["/proc/self/status"] = "VmSwap: 9223372036854775807 kB\nVmRSS: many kB\n";
  const FakeRoot root(files);
  const MemoryState state = read_memory_state(root.path());
  EXPECT_EQ(state.stalled_percent, 0);
  EXPECT_GT(state.swapped_bytes, 0);
  EXPECT_EQ(state.resident_bytes, 0);
}

TEST(MemoryState, ThisMachineHasSome) { EXPECT_GT(read_memory_state().resident_bytes, 1 << 20); }

}  // namespace
}  // namespace luce::base
