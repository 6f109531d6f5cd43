#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "engine/sequence.hpp"

namespace luce::engine {

enum class Admission { accepted, full, closed, held };

/// Requests between submit() and a sequence slot, first come first served, and the count of all in flight. Thread-safe.
class Intake {
 public:
  /// `in_flight` requests may wait or run.
  explicit Intake(size_t in_flight) : most_in_flight_(in_flight) {}

  Admission push(Waiting waiting);
  /// The next in line, which stays in flight; nothing while there is a hold, unless the intake is closed.
  std::optional<Waiting> pop();
  /// Takes out those for which `gone` holds; they stay in flight.
  std::vector<Waiting> remove_if(const std::function<bool(const Waiting&)>& gone);
  /// `count` requests have ended.
  void release(size_t count);

  /// Sets or lifts a hold.
  void hold(std::optional<Hold> order);
  std::optional<Hold> held() const;

  /// Lets nothing more in.
  void close();
  bool closed() const;
  size_t waiting() const;
  size_t in_flight() const;
  /// Until a request waits or the intake is closed; while there is a hold, at most a moment.
  void wait_for_work();
  /// False when `timeout` passes before nothing is in flight.
  bool wait_until_idle(std::chrono::milliseconds timeout);

 private:
  const size_t most_in_flight_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  size_t in_flight_ = 0;
  bool closed_ = false;
  std::optional<Hold> hold_;
};

}  // namespace luce::engine
