#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "engine/event.hpp"

namespace luce::engine {

class Ticket;

/// The reader's end of a submitted request. One thread reads; stop() and cancel() may be called from any.
class RequestHandle {
 public:
  explicit RequestHandle(std::shared_ptr<Ticket> ticket);
  /// Cancels what still runs.
  ~RequestHandle();
  RequestHandle(RequestHandle&&) noexcept = default;
  RequestHandle& operator=(RequestHandle&&) noexcept;

  /// The next event; nothing when `timeout` passes first or the terminal event was already given.
  std::optional<Event> next_event(std::chrono::milliseconds timeout);
  /// The terminal event was given.
  bool ended() const { return ended_; }

  /// Ends the request at the next step with Finished{stopped}: nothing more is wanted of it.
  void stop();
  /// Ends the request at the next step with Failed{cancelled}: nobody reads it any more.
  void cancel();

 private:
  std::shared_ptr<Ticket> ticket_;
  bool ended_ = false;
};

}  // namespace luce::engine
