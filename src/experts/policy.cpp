#include "experts/policy.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/error.hpp"
#include "experts/count_policies.hpp"
#include "experts/hot_score.hpp"

namespace luce::experts {
namespace {

constexpr double kMaxHalfLife = 1e9;  // tokens
constexpr double kHotScoreGate = 2.5;

std::unique_ptr<LayerPolicy> make_hot_score(int experts, std::optional<double> gate) {
  HotScoreSettings settings;
  settings.gate = gate;
  return std::make_unique<HotScore>(experts, settings);
}

struct Kind {
  std::string_view name;
  bool has_half_life;
  std::unique_ptr<LayerPolicy> (*make)(int experts, double half_life);
};

constexpr Kind kKinds[] = {
    {"lru", false, [](int, double) { return make_lru(); }},
    {"hot-score", false, [](int experts, double) { return make_hot_score(experts, std::nullopt); }},
    {"hot-score-gated", false, [](int experts, double) { return make_hot_score(experts, kHotScoreGate); }},
    {"lfu", false, [](int experts, double) { return make_lfu(experts); }},
    {"decay", true, [](int experts, double half_life) { return make_decay(experts, half_life, false); }},
    {"decay-gated", true, [](int experts, double half_life) { return make_decay(experts, half_life, true); }},
    {"class-lru", true, make_class_lru},
    {"age-crf", true, make_age_crf},
};

const Kind* find_kind(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& k) { return k.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

std::optional<int32_t> choose_victim(const LayerPolicy& policy, std::span<const Candidate> candidates, int32_t incoming,
                                     std::optional<double> gate) {
  if (candidates.empty()) return std::nullopt;
  const auto rank = [&policy](const Candidate& c) {
    return std::tuple(policy.keep_value(c.expert), policy.recency_breaks_ties() ? c.last_step : 0, c.expert);
  };
  auto weakest = rank(candidates[0]);
  for (const Candidate& candidate : candidates.subspan(1)) weakest = std::min(weakest, rank(candidate));
  if (gate && policy.keep_value(incoming) <= *gate * std::get<0>(weakest)) return std::nullopt;
  return std::get<2>(weakest);
}

PolicySpec PolicySpec::parse(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const std::string_view number = text.substr(std::min(colon + 1, text.size()));
  const Kind* kind = find_kind(name);
  double half_life = 0.0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), half_life);
  const bool number_fits =
      error == std::errc() && end == number.data() + number.size() && half_life > 0.0 && half_life <= kMaxHalfLife;
  if (!kind || (kind->has_half_life ? !number_fits : colon < text.size()))
    fail(ErrorKind::usage, "eviction policy \"{}\" is unknown; known are {}", text, known_policies());
  PolicySpec spec{std::string(text)};
  spec.make_ = [make = kind->make, half_life](int experts) { return make(experts, half_life); };
  if (name.starts_with("hot-score")) spec.bytes_ = HotScore::bytes;
  return spec;
}

std::string known_policies() {
  std::string list;
  for (const Kind& kind : kKinds)
    list += fmt::format("{}{}{}", list.empty() ? "" : ", ", kind.name, kind.has_half_life ? ":HALF-LIFE" : "");
  return list;
}

}  // namespace luce::experts
