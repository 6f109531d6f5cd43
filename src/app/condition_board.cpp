#include "app/condition_board.hpp"

#include "base/format.hpp"
#include "base/log.hpp"

namespace luce::app {

using Clock = std::chrono::steady_clock;

void ConditionBoard::declare(const std::string& name) {
  const std::lock_guard lock(mutex_);
  entry(name);
}

void ConditionBoard::report(const std::string& name, const std::optional<std::string>& reason) {
  const std::lock_guard lock(mutex_);
  Trouble& trouble = entry(name);
  const bool was_there = trouble.reason.has_value();
  trouble.reason = reason;
  trouble.degraded.set(reason ? 1 : 0);
  if (reason && !was_there) {
    trouble.since = Clock::now();
    base::log_warning("degraded ({}): {}", name, *reason);
  } else if (!reason && was_there) {
    const double seconds = std::chrono::duration<double>(Clock::now() - trouble.since).count();
    base::log_info("no longer degraded ({}): it lasted {:.0f} s", name, seconds);
  }
}

std::vector<server::Condition> ConditionBoard::conditions() const {
  const std::lock_guard lock(mutex_);
  std::vector<server::Condition> conditions;
  for (const auto& [name, trouble] : troubles_)
    if (trouble.reason) conditions.push_back({name, "degraded", *trouble.reason});
  return conditions;
}

ConditionBoard::Trouble& ConditionBoard::entry(const std::string& name) {
  const auto [found, is_new] = troubles_.try_emplace(name);
  if (is_new)
    found->second.degraded = registry_.gauge({"luce_state",
                                              "1 for the state in which something that was asked for is.",
                                              {{"name", name}, {"state", "degraded"}}});
  return found->second;
}

}  // namespace luce::app
