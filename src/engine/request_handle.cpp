#include "engine/request_handle.hpp"

#include <utility>
#include <variant>

#include "engine/ticket.hpp"

namespace luce::engine {

RequestHandle::RequestHandle(std::shared_ptr<Ticket> ticket) : ticket_(std::move(ticket)) {}

RequestHandle::~RequestHandle() { cancel(); }

RequestHandle& RequestHandle::operator=(RequestHandle&& other) noexcept {
  if (this == &other) return *this;
  cancel();
  ticket_ = std::move(other.ticket_);
  ended_ = other.ended_;
  return *this;
}

std::optional<Event> RequestHandle::next_event(std::chrono::milliseconds timeout) {
  if (ended_ || ticket_ == nullptr) return std::nullopt;
  std::optional<Event> event = ticket_->receive(timeout);
  ended_ = event.has_value() && !std::holds_alternative<Token>(*event);
  return event;
}

void RequestHandle::stop() {
  if (ticket_ != nullptr) ticket_->set_wish(Wish::stop);
}

void RequestHandle::cancel() {
  if (ticket_ != nullptr) ticket_->set_wish(Wish::cancel);
}

}  // namespace luce::engine
