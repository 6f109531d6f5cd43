#include "engine/snapshot_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace luce::engine {
namespace {

class PeakMemory : public std::pmr::memory_resource {
 public:
  size_t held = 0;
  size_t peak = 0;
  int allocations = 0;

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    held += bytes;
    peak = std::max(peak, held);
    ++allocations;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* at, size_t bytes, size_t alignment) override {
    held -= bytes;
    std::pmr::new_delete_resource()->deallocate(at, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

constexpr SnapshotKey a{.slot = 0, .position = 1}, b{.slot = 0, .position = 2}, c{.slot = 1, .position = 1},
    d{.slot = 1, .position = 2}, e{.slot = 2, .position = 9};

TEST(SnapshotStore, CapIsCheckedBeforeAllocating) {
  PeakMemory memory;
  {
    SnapshotStore store(1000, &memory);
    EXPECT_EQ(store.put(a, 400).size(), 400u);
    EXPECT_EQ(store.put(b, 500).size(), 500u);
    EXPECT_EQ(store.held_bytes(), 900u);
    EXPECT_EQ(store.put(c, 300).size(), 300u);
    EXPECT_TRUE(store.use(a).empty());
    EXPECT_EQ(store.held_bytes(), 800u);
    EXPECT_TRUE(store.put(d, 1001).empty());
    EXPECT_EQ(store.held_bytes(), 800u);
    EXPECT_EQ(store.put(e, 1000).size(), 1000u);
    EXPECT_TRUE(store.use(b).empty());
    EXPECT_TRUE(store.use(c).empty());
    EXPECT_EQ(store.held_bytes(), 1000u);
    EXPECT_LE(memory.peak, 1000u);
  }
  EXPECT_EQ(memory.held, 0u);
}

TEST(SnapshotStore, UseKeepsAndPutReplaces) {
  SnapshotStore store(100);
  store.put(a, 50)[0] = std::byte{1};
  store.put(b, 50)[0] = std::byte{2};
  EXPECT_EQ(store.use(a)[0], std::byte{1});
  store.put(c, 50);
  EXPECT_TRUE(store.use(b).empty()) << "a was used after b";
  EXPECT_EQ(store.use(a)[0], std::byte{1});
  store.put(a, 50)[0] = std::byte{7};
  EXPECT_EQ(store.use(a)[0], std::byte{7});
  EXPECT_EQ(store.held_bytes(), 100u);
}

TEST(SnapshotStore, EqualSizesReuseMemory) {
  PeakMemory memory;
  SnapshotStore store(200, &memory);
  for (int i = 0; i < 50; ++i) store.put({.slot = 0, .position = i}, 100);
  EXPECT_EQ(memory.allocations, 2);
}

TEST(SnapshotStore, PositionsBelongToTheirSlot) {
  SnapshotStore store(1000);
  for (const int position : {384, 128, 256}) store.put({.slot = 1, .position = position}, 10);
  store.put({.slot = 2, .position = 64}, 10);
  EXPECT_EQ(store.positions(1), (std::vector<int>{128, 256, 384}));
  store.drop_above(1, 200);
  EXPECT_EQ(store.positions(1), (std::vector<int>{128}));
  EXPECT_EQ(store.positions(2), (std::vector<int>{64}));
  EXPECT_EQ(store.held_bytes(), 20u);
}

TEST(SnapshotStore, NoBytesHoldNothing) {
  SnapshotStore store(0);
  EXPECT_TRUE(store.put(a, 1).empty());
  EXPECT_TRUE(store.positions(0).empty());
}

}  // namespace
}  // namespace luce::engine
