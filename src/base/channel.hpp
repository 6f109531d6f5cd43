#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.hpp"

namespace luce::base {

enum class PushStatus { pushed, full, closed };

/// A bounded first-in first-out queue between threads, any number on each side. T needs only to be movable.
/// After close() nothing more goes in; what is inside still comes out.
template <typename T>
class Channel {
 public:
  explicit Channel(size_t capacity) : capacity_(capacity) { LUCE_CHECK(capacity > 0, "a channel needs room for one"); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Never waits. `item` is moved from only when pushed.
  PushStatus try_push(T&& item) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return PushStatus::closed;
      if (items_.size() >= capacity_) return PushStatus::full;
      items_.push_back(std::move(item));
    }
    not_empty_.notify_one();
    return PushStatus::pushed;
  }

  /// Waits for room. False when the channel is closed; `item` is then not moved from.
  bool push(T&& item) {
    {
      std::unique_lock lock(mutex_);
      not_full_.wait(lock, [this] { return closed_ || items_.size() < capacity_; });
      if (closed_) return false;
      items_.push_back(std::move(item));
    }
    not_empty_.notify_one();
    return true;
  }

  /// Waits for an item; nothing when the channel is closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return closed_ || !items_.empty(); });
    return take(std::move(lock));
  }

  /// As pop(), but nothing after `timeout` too; drained() tells the two apart.
  template <typename Rep, typename Period>
  std::optional<T> pop_for(std::chrono::duration<Rep, Period> timeout) {
    std::unique_lock lock(mutex_);
    not_empty_.wait_for(lock, timeout, [this] { return closed_ || !items_.empty(); });
    return take(std::move(lock));
  }

  /// An item if there is one now.
  std::optional<T> try_pop() { return take(std::unique_lock(mutex_)); }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  /// Closed and empty: pop() will never give an item again.
  bool drained() const {
    const std::lock_guard lock(mutex_);
    return closed_ && items_.empty();
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }
  size_t capacity() const { return capacity_; }

 private:
  std::optional<T> take(std::unique_lock<std::mutex> lock) {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    lock.unlock();
    not_full_.notify_one();
    return item;
  }

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable not_empty_;
  std::condition_variable not_full_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace luce::base
