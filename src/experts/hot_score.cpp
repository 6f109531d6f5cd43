#include "experts/hot_score.hpp"

#include <algorithm>
#include <cmath>

namespace luce::experts {
namespace {
constexpr double kTailHalfLives = 4;  // rows of a prompt before that hardly count
constexpr double kLeastUses = 64;     // that expected traffic stands for, where little was counted
}  // namespace

HotScore::HotScore(int experts, const HotScoreSettings& settings)
    : settings_(settings),
      decode_(experts, settings.half_life_tokens),
      prompt_(experts, settings.half_life_tokens),
      transitions_(experts, settings.transitions),
      lift_(static_cast<size_t>(experts)) {}

void HotScore::record(const LayerUse& use) {
  lift_found_ = false;
  context_trust_ = 1;
  ++decode_tick_;
  const auto tail = static_cast<int64_t>(kTailHalfLives * settings_.half_life_tokens);
  const int64_t skipped = std::max<int64_t>(0, use.prompt_rows - tail);
  if (skipped > 0) history_.break_prompt();
  history_.begin_step(static_cast<size_t>(use.decode_rows), use.prompt_rows > 0);
  size_t decode_row = 0;
  int64_t prompt_row = 0;
  for (int row = 0; row < use.rows(); ++row) {
    if (use.is_decode(row)) {
      add_uses(use, row, decode_tick_, decode_);
      record_decode_row(decode_row++, use.chosen(row));
    } else if (++prompt_row > skipped) {
      add_uses(use, row, prompt_tick_ + prompt_row, prompt_);
      record_prompt_row(use.chosen(row));
    }
  }
  prompt_tick_ += std::max<int64_t>(1, use.prompt_rows);
}

void HotScore::add_uses(const LayerUse& use, int row, int64_t tick, DecayedCounts& to) const {
  const std::span<const int32_t> chosen = use.chosen(row);
  for (size_t k = 0; k < chosen.size(); ++k) {
    const double weight = settings_.weight_share == 0
                              ? 1.0
                              : static_cast<double>(use.weight(row, k)) * static_cast<double>(chosen.size());
    to.add(chosen[k], tick, std::lerp(1.0, weight, settings_.weight_share));
  }
}

void HotScore::record_decode_row(size_t row, std::span<const int32_t> chosen) {
  learn(history_.decode(row, 1), history_.decode(row, 2), chosen);
  history_.push_decode(row, chosen);
}

void HotScore::record_prompt_row(std::span<const int32_t> chosen) {
  learn(history_.prompt(1), history_.prompt(2), chosen);
  history_.push_prompt(chosen);
}

void HotScore::learn(std::span<const int32_t> last, std::span<const int32_t> before, std::span<const int32_t> chosen) {
  transitions_.begin_row(chosen);
  for (const int32_t expert : last) transitions_.follow(expert, 1.0, chosen);
  for (const int32_t expert : before) transitions_.follow(expert, settings_.second_weight, chosen);
}

double HotScore::keep_value(int32_t expert) const {
  if (!lift_found_) find_lift();
  const double known = static_cast<double>(lift_[static_cast<size_t>(expert)]);
  const double lift = settings_.lift_floor + std::lerp(1.0, known, context_trust_);
  double value = decode_.at(expert, decode_tick_) + prompt_.at(expert, prompt_tick_);
  for (int i = 0; i < settings_.power; ++i) value *= lift;
  return value;
}

void HotScore::find_lift() const {
  context_.clear();
  for (size_t row = 0; row < history_.decode_rows(); ++row) {
    add_context(history_.decode(row, 1), 1.0);
    add_context(history_.decode(row, 2), settings_.second_weight);
  }
  add_context(history_.prompt(1), 1.0);
  add_context(history_.prompt(2), settings_.second_weight);
  transitions_.lift(context_, lift_);
  lift_found_ = true;
}

void HotScore::add_context(std::span<const int32_t> experts, double weight) const {
  for (const int32_t expert : experts) context_.push_back({expert, static_cast<float>(weight)});
}

void HotScore::seed(std::span<const double> uses) {
  for (size_t expert = 0; expert < uses.size(); ++expert)
    if (uses[expert] > 0.0) decode_.add(static_cast<int32_t>(expert), decode_tick_, uses[expert]);
}

std::vector<double> HotScore::uses() const {
  std::vector<double> uses(lift_.size());
  for (size_t expert = 0; expert < uses.size(); ++expert)
    uses[expert] = decode_.at(static_cast<int32_t>(expert), decode_tick_);
  return uses;
}

void HotScore::expect(const ExpectedTraffic& traffic) {
  const auto& [shares, weight, fresh] = traffic;
  context_trust_ *= 1.0 - fresh;
  double total = 0.0;
  for (size_t expert = 0; expert < shares.size(); ++expert)
    total += decode_.at(static_cast<int32_t>(expert), decode_tick_);
  const double coming = weight * std::max(total, kLeastUses);
  for (size_t expert = 0; expert < shares.size(); ++expert) {
    const auto id = static_cast<int32_t>(expert);
    decode_.add(id, decode_tick_, coming * shares[expert] - weight * decode_.at(id, decode_tick_));
  }
}

size_t HotScore::bytes(int experts) {
  return TransitionCounts::bytes(experts) + static_cast<size_t>(experts) * (2 * 2 * sizeof(double) + sizeof(float));
}

}  // namespace luce::experts
