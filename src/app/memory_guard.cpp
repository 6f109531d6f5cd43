#include "app/memory_guard.hpp"

#include <array>
#include <utility>

#include "base/byte_size.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"

namespace luce::app {
namespace {

using experts::Shortage;
using std::chrono::milliseconds;

constexpr milliseconds kUsualPause(1000);
constexpr milliseconds kShortPause(100);  // while memory is short, or less than the reserve is left
constexpr std::chrono::seconds kWaitBeforeRefusing(3);

constexpr const char* kMemory = "memory";
constexpr const char* kSwap = "swap";
constexpr const char* kPressure = "memory-pressure";
constexpr const char* kBudget = "expert-slots";
constexpr const char* kWatch = "memory-watch";

int64_t slot_bytes_of(const experts::CachedExpertService* experts) {
  return experts == nullptr ? 0 : static_cast<int64_t>(experts->memory().slot_bytes);
}

/// For clients; no figures and no paths.
const char* word_for(Shortage shortage) {
  if (shortage == Shortage::swap) return "swap is in use";
  return shortage == Shortage::pressure ? "memory is under pressure" : "memory is short";
}

std::string figures_of(Shortage shortage, const base::MemoryState& state) {
  switch (shortage) {
    case Shortage::none: break;
    case Shortage::memory:
      return fmt::format("{} are left by {}", base::format_bytes(state.limit.available_bytes), state.limit.source);
    case Shortage::swap: return fmt::format("{} of this server are in it", base::format_bytes(state.swapped_bytes));
    case Shortage::pressure:
      return fmt::format("{:.0f} % of the last ten seconds were lost, by {}", state.stalled_percent,
                         state.stalled_source);
  }
  return "";
}

const char* name_of(Shortage shortage) {
  if (shortage == Shortage::swap) return kSwap;
  return shortage == Shortage::pressure ? kPressure : kMemory;
}

}  // namespace

MemoryGuard::MemoryGuard(std::string root, const ModelAssembly& assembly, engine::Engine& engine, ConditionBoard& board)
    : root_(std::move(root)),
      experts_(assembly.experts()),
      engine_(engine),
      board_(board),
      planned_bytes_(slot_bytes_of(experts_)),
      reserve_bytes_(assembly.plan().reserve_bytes),
      rule_({planned_bytes_, reserve_bytes_}),
      slot_bytes_(planned_bytes_) {
  for (const char* name : {kMemory, kSwap, kPressure, kBudget, kWatch}) board_.declare(name);
}

MemoryGuard::~MemoryGuard() {
  thread_.reset();
  release();
}

void MemoryGuard::show(telemetry::Registry& registry) {
  available_ = registry.gauge({"luce_memory_available_bytes",
                               "Bytes that can still be taken: of the machine, or within the tightest control group."});
  reserve_ = registry.gauge({"luce_memory_reserve_bytes", "Bytes that an automatic budget leaves available."});
  swapped_ = registry.gauge({"luce_swap_used_bytes", "Bytes of this server in swap."});
  stalled_ = registry.gauge({"luce_memory_stalled_ratio",
                             "Share of the last ten seconds in which the control group stood still for memory."});
  slots_ = registry.gauge({"luce_expert_slots", "Expert slots in service.", {{"tier", "host"}}});
  slot_bytes_gauge_ =
      registry.gauge({"luce_expert_slot_bytes", "Bytes of expert slots in service.", {{"tier", "host"}}});
  reserve_.set(static_cast<double>(reserve_bytes_));
}

void MemoryGuard::start() {
  thread_.emplace([this] { return look(); });
}

milliseconds MemoryGuard::look() {
  try {
    const base::MemoryState state = base::read_memory_state(root_);
    judge(state);
    board_.report(kWatch, std::nullopt);
    return held_since_ || state.limit.available_bytes < reserve_bytes_ ? kShortPause : kUsualPause;
  } catch (const Error& error) {
    board_.report(kWatch, error.what());
  }
  return kUsualPause;
}

void MemoryGuard::judge(const base::MemoryState& state) {
  experts::MemorySigns signs;
  signs.now_seconds = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  signs.available_bytes = state.limit.available_bytes;
  signs.swapped_bytes = state.swapped_bytes;
  signs.swap_moves = state.swap_moves;
  signs.stalled_percent = state.stalled_percent;
  const experts::BudgetVerdict verdict = rule_.look(signs, slot_bytes_);
  if (verdict.slot_bytes != slot_bytes_ && experts_ != nullptr) resize(verdict.slot_bytes);
  tell(verdict.shortage, state);
  set_gauges(state);
}

void MemoryGuard::resize(int64_t wanted_bytes) {
  try {
    slot_bytes_ = static_cast<int64_t>(experts_->resize_slots(static_cast<size_t>(wanted_bytes)));
  } catch (const Error& error) {
    // The memory that was there a moment ago has gone; the next look sees that.
    base::log_warning("expert slots cannot come back yet: {}", error.what());
    slot_bytes_ = slot_bytes_of(experts_);
  }
}

void MemoryGuard::tell(Shortage shortage, const base::MemoryState& state) {
  const std::string reason =
      fmt::format("{}, so no new requests start: {}", word_for(shortage), figures_of(shortage, state));
  for (const Shortage each : {Shortage::memory, Shortage::swap, Shortage::pressure})
    board_.report(name_of(each), each == shortage ? std::optional(reason) : std::nullopt);
  if (slot_bytes_ < planned_bytes_)
    board_.report(kBudget, fmt::format("expert slots hold {} of {} planned: memory {} short, and slots come back {}",
                                       base::format_bytes(slot_bytes_), base::format_bytes(planned_bytes_),
                                       shortage == Shortage::none ? "was" : "is",
                                       shortage == Shortage::none ? "slowly while there is room" : "once it is not"));
  else
    board_.report(kBudget, std::nullopt);
  shortage == Shortage::none ? release() : hold(word_for(shortage));
}

void MemoryGuard::hold(const std::string& why) {
  const auto now = Clock::now();
  if (!held_since_) held_since_ = now;
  engine_.hold(engine::Hold{why, now - *held_since_ > kWaitBeforeRefusing});
}

void MemoryGuard::release() {
  if (!held_since_) return;
  held_since_.reset();
  engine_.hold(std::nullopt);
}

void MemoryGuard::set_gauges(const base::MemoryState& state) const {
  available_.set(static_cast<double>(state.limit.available_bytes));
  swapped_.set(static_cast<double>(state.swapped_bytes));
  stalled_.set(state.stalled_percent / 100);
  slot_bytes_gauge_.set(static_cast<double>(slot_bytes_));
  if (experts_ != nullptr) slots_.set(experts_->residency().slots);
}

}  // namespace luce::app
