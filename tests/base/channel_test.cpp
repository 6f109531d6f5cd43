#include "base/channel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace luce::base {
namespace {

using namespace std::chrono_literals;

TEST(Channel, KeepsOrderAndBound) {
  Channel<int> channel(2);
  EXPECT_EQ(channel.capacity(), 2U);
  EXPECT_EQ(channel.try_push(1), PushStatus::pushed);
  EXPECT_EQ(channel.try_push(2), PushStatus::pushed);
  EXPECT_EQ(channel.try_push(3), PushStatus::full);
  EXPECT_EQ(channel.size(), 2U);
  EXPECT_EQ(channel.pop(), 1);
  EXPECT_EQ(channel.try_pop(), 2);
  EXPECT_EQ(channel.try_pop(), std::nullopt);
}

TEST(Channel, MovesOnlyWhatItTakes) {
  Channel<std::unique_ptr<int>> channel(1);
  auto first = std::make_unique<int>(1);
  auto second = std::make_unique<int>(2);
  EXPECT_EQ(channel.try_push(std::move(first)), PushStatus::pushed);
  EXPECT_EQ(channel.try_push(std::move(second)), PushStatus::full);
  ASSERT_NE(second, nullptr);
  channel.close();
  EXPECT_FALSE(channel.push(std::move(second)));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(**channel.pop(), 1);
}

TEST(Channel, ClosedGivesWhatIsInsideThenNothing) {
  Channel<int> channel(4);
  channel.push(7);
  channel.close();
  channel.close();
  EXPECT_TRUE(channel.closed());
  EXPECT_FALSE(channel.drained());
  EXPECT_EQ(channel.try_push(8), PushStatus::closed);
  EXPECT_EQ(channel.pop(), 7);
  EXPECT_TRUE(channel.drained());
  EXPECT_EQ(channel.pop(), std::nullopt);
  EXPECT_EQ(channel.pop_for(1h), std::nullopt);
}

TEST(Channel, PopForGivesUpInTime) {
  Channel<int> channel(1);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(channel.pop_for(20ms), std::nullopt);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 20ms);
  EXPECT_FALSE(channel.drained());
  channel.push(3);
  EXPECT_EQ(channel.pop_for(0ms), 3);
}

TEST(Channel, CloseWakesBothSides) {
  Channel<int> empty(1);
  Channel<int> full(1);
  full.push(1);
  std::thread reader([&] { EXPECT_EQ(empty.pop(), std::nullopt); });
  std::thread writer([&] { EXPECT_FALSE(full.push(2)); });
  std::this_thread::sleep_for(5ms);
  empty.close();
  full.close();
  reader.join();
  writer.join();
}

TEST(Channel, ManyOnBothSidesLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kItems = 2000;
  Channel<int> channel(3);
  std::atomic<int64_t> sum{0};
  std::atomic<int> received{0};
  std::vector<std::thread> writers;
  std::vector<std::thread> readers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&] {
      for (int i = 1; i <= kItems; ++i) EXPECT_TRUE(channel.push(int{i}));
    });
    readers.emplace_back([&] {
      while (const auto item = channel.pop()) {
        sum += *item;
        ++received;
      }
    });
  }
  for (auto& writer : writers) writer.join();
  channel.close();
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(received, kThreads * kItems);
  EXPECT_EQ(sum, int64_t{kThreads} * kItems * (kItems + 1) / 2);
}

}  // namespace
}  // namespace luce::base
