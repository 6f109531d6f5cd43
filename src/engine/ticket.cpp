#include "engine/ticket.hpp"

#include <utility>
#include <variant>

#include "base/check.hpp"

namespace luce::engine {

void Ticket::send(Event event) {
  const bool terminal = !std::holds_alternative<Token>(event);
  const base::PushStatus status = channel_.try_push(std::move(event));
  LUCE_CHECK(status == base::PushStatus::pushed, "a request gives one terminal event and no more than it has room for");
  if (terminal) channel_.close();
}

void Ticket::set_wish(Wish wish) {
  Wish expected = Wish::more;
  wish_.compare_exchange_strong(expected, wish, std::memory_order_release);
}

}  // namespace luce::engine
