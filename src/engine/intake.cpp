#include "engine/intake.hpp"

#include <utility>

namespace luce::engine {
namespace {
constexpr std::chrono::milliseconds kLookAtHeld(50);
}

Admission Intake::push(Waiting waiting) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Admission::closed;
    if (hold_ && hold_->refuse) return Admission::held;
    if (in_flight_ >= most_in_flight_) return Admission::full;
    ++in_flight_;
    waiting_.push_back(std::move(waiting));
  }
  changed_.notify_all();
  return Admission::accepted;
}

std::optional<Waiting> Intake::pop() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty() || (hold_ && !closed_)) return std::nullopt;
  std::optional<Waiting> next(std::move(waiting_.front()));
  waiting_.pop_front();
  return next;
}

std::vector<Waiting> Intake::remove_if(const std::function<bool(const Waiting&)>& gone) {
  const std::lock_guard lock(mutex_);
  std::vector<Waiting> removed;
  std::deque<Waiting> kept;
  for (Waiting& waiting : waiting_) {
    if (gone(waiting))
      removed.push_back(std::move(waiting));
    else
      kept.push_back(std::move(waiting));
  }
  waiting_ = std::move(kept);
  return removed;
}

void Intake::release(size_t count) {
  if (count == 0) return;
  {
    const std::lock_guard lock(mutex_);
    in_flight_ -= count;
  }
  changed_.notify_all();
}

void Intake::hold(std::optional<Hold> order) {
  {
    const std::lock_guard lock(mutex_);
    hold_ = std::move(order);
  }
  changed_.notify_all();
}

std::optional<Hold> Intake::held() const {
  const std::lock_guard lock(mutex_);
  return hold_;
}

void Intake::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

bool Intake::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

size_t Intake::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

size_t Intake::in_flight() const {
  const std::lock_guard lock(mutex_);
  return in_flight_;
}

void Intake::wait_for_work() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
  // Those that wait may still be cancelled.
  changed_.wait_for(lock, kLookAtHeld, [this] { return closed_ || !hold_; });
}

bool Intake::wait_until_idle(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [this] { return in_flight_ == 0; });
}

}  // namespace luce::engine
