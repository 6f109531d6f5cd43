#include "completion/grammar/number_range.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "completion/grammar/json_rules.hpp"
#include "completion/grammar/schema_keywords.hpp"

namespace luce::completion {

namespace {

using Bound = NumberRule::Bound;

constexpr size_t kMostDigits = 16;
constexpr size_t kMostFraction = 30;
constexpr int kMostStep = 256;
constexpr int kImpossible = -1;

// Plain digits of any JSON number, the shortest that give it back.
std::string plain_digits(const Json& number) {
  if (number.is_number_integer()) return number.dump();
  std::array<char, 1100> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number.get<double>(), std::chars_format::fixed).ptr;
  return {text.data(), end};
}

Bound parsed(const Json& number, bool open) {
  std::string text = plain_digits(number);
  Bound bound{.negative = text.starts_with('-'), .open = open};
  if (bound.negative) text.erase(0, 1);
  const size_t point = std::min(text.find('.'), text.size());
  bound.digits = text.substr(0, point);
  bound.fraction = point < text.size() ? text.substr(point + 1) : std::string();
  bound.fraction.erase(bound.fraction.find_last_not_of('0') + 1);
  if (bound.digits == "0" && bound.fraction.empty()) bound.negative = false;
  return bound;
}

int compare_magnitudes(const Bound& a, const Bound& b) {
  if (a.digits.size() != b.digits.size()) return a.digits.size() < b.digits.size() ? -1 : 1;
  if (const int digits = a.digits.compare(b.digits); digits != 0) return digits;
  return a.fraction.compare(b.fraction);
}

int compare(const Bound& a, const Bound& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  return a.negative ? compare_magnitudes(b, a) : compare_magnitudes(a, b);
}

const Json* number_at(const Json& schema, const std::string& key, const std::string& place) {
  const auto found = schema.find(key);
  if (found == schema.end() || found->is_null() || found->is_boolean()) return nullptr;
  if (!found->is_number()) refuse_schema(place + "/" + key, "must be a number");
  return &*found;
}

// `side` 1: of two lower bounds the higher one counts; -1: of two upper bounds the lower one.
std::optional<Bound> bound_of(const Json& schema, const std::string& key, int side, const std::string& place) {
  const std::string exclusive = side > 0 ? "exclusiveMinimum" : "exclusiveMaximum";
  const Json* const closed = number_at(schema, key, place);
  const Json* const open = number_at(schema, exclusive, place);
  std::optional<Bound> bound;
  if (closed != nullptr) bound = parsed(*closed, schema.value(exclusive, Json()) == true);
  if (open != nullptr) {
    Bound other = parsed(*open, true);
    if (!bound || side * compare(other, *bound) >= 0) bound = std::move(other);
  }
  if (!bound) return bound;
  if (bound->fraction.size() > kMostFraction)
    refuse_schema(place + "/" + key, fmt::format("has more than {} digits after the point", kMostFraction));
  if (bound->digits.size() <= kMostDigits) return bound;
  const bool reachable = bound->negative == (side > 0);  // all that can be written lies within
  if (!reachable) refuse_schema(place + "/" + key, fmt::format("is beyond numbers of {} digits", kMostDigits));
  return std::nullopt;
}

void read_step(const Json& schema, const std::string& place, NumberRule& rule) {
  const Json* const number = number_at(schema, "multipleOf", place);
  if (number == nullptr) return;
  const Bound step = parsed(*number, false);
  std::string digits = step.digits + step.fraction;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (step.negative || digits.empty()) refuse_schema(place + "/multipleOf", "must be above 0");
  const bool fits = step.fraction.size() <= kMostDigits && digits.size() <= 3 && std::stoi(digits) <= kMostStep;
  if (!fits)
    refuse_schema(place + "/multipleOf",
                  fmt::format("cannot be enforced; only multiples of 1 to {} times a power of ten can", kMostStep));
  rule.step = std::stoi(digits);
  rule.step_digits = static_cast<int>(step.fraction.size());
}

/// Numbers without sign of one length of the whole part, between two bounds or, without `high`, up to all nines.
class MagnitudeRange {
 public:
  struct Shared {
    GrammarBuilder& builder;
    const NumberRule& rule;
    int next;
    std::map<std::tuple<size_t, size_t, int>, int> free = {};  // nodes that no bound touches any more
  };

  MagnitudeRange(Shared& shared, size_t length, const Bound& low, const Bound* high)
      : shared_(shared), length_(length), low_(low), high_(high) {}

  int node() { return node({.at = 0, .on_low = true, .on_high = high_ != nullptr, .rest = 0}); }

 private:
  struct State {
    size_t at;  // digits read
    bool on_low, on_high;
    int rest;  // of the number so far, divided by the step
    auto operator<=>(const State&) const = default;
  };

  int step() const { return shared_.rule.step.value_or(1); }
  size_t most_fraction() const {
    if (shared_.rule.whole) return 0;
    if (shared_.rule.step) return static_cast<size_t>(shared_.rule.step_digits);
    const size_t bounds = std::max(low_.fraction.size(), high_ == nullptr ? 0 : high_->fraction.size());
    return std::max(kMostDigits, bounds + 1);
  }
  char digit_of(const Bound& bound, size_t at) const {
    if (at < length_) return bound.digits[at];
    return at - length_ < bound.fraction.size() ? bound.fraction[at - length_] : '0';
  }
  bool exhausted(const Bound& bound, size_t at) const { return at - length_ >= bound.fraction.size(); }

  bool may_end(const State& state) const {
    if (state.at < length_) return false;
    if (state.on_low && (!exhausted(low_, state.at) || low_.open)) return false;
    if (state.on_high && exhausted(*high_, state.at) && high_->open) return false;
    int64_t rest = state.rest;
    for (size_t i = state.at - length_; i < static_cast<size_t>(shared_.rule.step_digits); ++i)
      rest = rest * 10 % step();
    return rest == 0;
  }

  int node(const State& state) {
    if (!state.on_low && !state.on_high) {
      const size_t whole_left = length_ - std::min(length_, state.at),
                   fraction = state.at - std::min(length_, state.at);
      const auto key = std::tuple(whole_left, fraction, state.rest);
      if (const auto known = shared_.free.find(key); known != shared_.free.end()) return known->second;
      return shared_.free[key] = build(state);
    }
    if (const auto known = bounded_.find(state); known != bounded_.end()) return known->second;
    return bounded_[state] = build(state);
  }

  int build(const State& state) {
    std::vector<int> branches;
    if (may_end(state)) branches.push_back(shared_.next);
    if (state.at < length_ || state.at - length_ < most_fraction()) {
      const int more = digits(state);
      if (more != kImpossible) branches.push_back(state.at == length_ ? shared_.builder.literal(".", more) : more);
    }
    return branches.empty() ? kImpossible : shared_.builder.any_of(std::move(branches));
  }

  int digits(const State& state) {
    std::map<int, ByteSet> leads;
    const bool leading = state.at == 0 && length_ > 1;
    for (char digit = leading ? '1' : '0'; digit <= '9'; ++digit) {
      const char low = state.on_low ? digit_of(low_, state.at) : '0';
      const char high = state.on_high ? digit_of(*high_, state.at) : '9';
      if (digit < low || digit > high) continue;
      const int to = node({.at = state.at + 1,
                           .on_low = state.on_low && digit == low,
                           .on_high = state.on_high && digit == high,
                           .rest = (state.rest * 10 + (digit - '0')) % step()});
      if (to != kImpossible) leads[to].set(static_cast<size_t>(digit));
    }
    std::vector<int> branches;
    for (const auto& [to, set] : leads) branches.push_back(shared_.builder.bytes(set, to));
    return branches.empty() ? kImpossible : shared_.builder.any_of(std::move(branches));
  }

  Shared& shared_;
  const size_t length_;
  const Bound& low_;
  const Bound* high_;
  std::map<State, int> bounded_;
};

// Numbers without sign from `low` to `high`; no `high`: without end.
void add_magnitudes(MagnitudeRange::Shared& shared, const Bound& low, const Bound* high, std::vector<int>& branches) {
  const size_t last = high == nullptr ? kMostDigits : high->digits.size();
  for (size_t length = low.digits.size(); length <= last; ++length) {
    const Bound shortest{.digits = "1" + std::string(length - 1, '0')};
    const bool at_low = length == low.digits.size();
    const bool at_high = high != nullptr && length == last;
    if (at_low && at_high && compare_magnitudes(low, *high) > 0) continue;
    const int node = MagnitudeRange(shared, length, at_low ? low : shortest, at_high ? high : nullptr).node();
    if (node != kImpossible) branches.push_back(node);
  }
}

}  // namespace

NumberRule number_rule(const Json& schema, bool whole, const std::string& place) {
  NumberRule rule{
      .least = bound_of(schema, "minimum", 1, place), .most = bound_of(schema, "maximum", -1, place), .whole = whole};
  read_step(schema, place, rule);
  if (rule.least && rule.most && compare(*rule.least, *rule.most) > 0)
    refuse_schema(place, "has a maximum below its minimum");
  return rule;
}

int compile_number(GrammarBuilder& builder, const NumberRule& rule, int next) {
  MagnitudeRange::Shared shared{.builder = builder, .rule = rule, .next = next};
  const Bound zero{.digits = "0"}, below_zero{.digits = "0", .open = true};
  std::vector<int> branches, negative;
  if (!rule.most || !rule.most->negative)
    add_magnitudes(shared, rule.least && !rule.least->negative ? *rule.least : zero, rule.most ? &*rule.most : nullptr,
                   branches);
  if (!rule.least || rule.least->negative)
    add_magnitudes(shared, rule.most && rule.most->negative ? *rule.most : below_zero,
                   rule.least ? &*rule.least : nullptr, negative);
  if (!negative.empty()) branches.push_back(builder.literal("-", builder.any_of(std::move(negative))));
  return branches.empty() ? kImpossible : builder.any_of(std::move(branches));
}

}  // namespace luce::completion
