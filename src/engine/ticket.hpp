#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>

#include "base/channel.hpp"
#include "engine/event.hpp"

namespace luce::engine {

/// What the reader of a request wants of it; a later wish does not undo an earlier one.
enum class Wish { more, stop, cancel };

/// What a request's reader and the step thread share.
class Ticket {
 public:
  /// `events` is the most that the request can give, so that the step thread never waits for a reader.
  explicit Ticket(size_t events) : channel_(events) {}

  /// Step thread. Nothing may follow a terminal event.
  void send(Event event);
  /// Reader; nothing when `timeout` passes first.
  std::optional<Event> receive(std::chrono::milliseconds timeout) { return channel_.pop_for(timeout); }

  void set_wish(Wish wish);
  Wish wish() const { return wish_.load(std::memory_order_acquire); }

 private:
  base::Channel<Event> channel_;
  std::atomic<Wish> wish_{Wish::more};
};

}  // namespace luce::engine
