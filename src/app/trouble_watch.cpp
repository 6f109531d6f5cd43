#include "app/trouble_watch.hpp"

#include <algorithm>

#include "base/format.hpp"

namespace luce::app {
namespace {

constexpr std::chrono::milliseconds kPause(2000);
constexpr uint64_t kLeastAccesses = 1000;
constexpr int64_t kLeastRows = 1000;
constexpr double kLowHits = 0.5;
constexpr double kLowNoMore = 0.55;

constexpr const char* kHits = "hit-ratio";
constexpr const char* kHotExpert = "hot-expert";
constexpr const char* kNarrowTopic = "narrow-topic";

}  // namespace

TroubleWatch::TroubleWatch(const ModelAssembly& assembly, int64_t warmup_tokens, ConditionBoard& board)
    : assembly_(assembly), warmup_tokens_(warmup_tokens), board_(board), window_(assembly.stats_window_tokens()) {
  if (assembly_.experts() == nullptr) return;
  for (const char* name : {kHits, kHotExpert, kNarrowTopic}) board_.declare(name);
}

void TroubleWatch::start() {
  if (assembly_.experts() != nullptr) thread_.emplace([this] { return look(); });
}

std::chrono::milliseconds TroubleWatch::look() {
  const experts::CachedExpertService& experts = *assembly_.experts();
  board_.report(kHits, low_hits(experts));
  const experts::TrafficShape shape =
      experts::traffic_shape(experts.usage(), assembly_.blueprint().hyperparameters().experts_used);
  const auto enough = static_cast<uint64_t>(std::min(kLeastRows, assembly_.stats_window_tokens() / 2));
  if (shape.rows < enough) return kPause;
  board_.report(kHotExpert, hot_expert(shape));
  board_.report(kNarrowTopic, narrow_topic(shape));
  return kPause;
}

std::optional<std::string> TroubleWatch::low_hits(const experts::CachedExpertService& experts) {
  const uint64_t tokens = experts.usage().tokens();
  const experts::AccessCount count = window_.advance(tokens, experts.counters().decode);
  const bool known = static_cast<int64_t>(tokens) >= warmup_tokens_ && count.accesses() >= kLeastAccesses;
  hits_are_low_ = known && hit_ratio(count) < (hits_are_low_ ? kLowNoMore : kLowHits);
  if (!hits_are_low_) return std::nullopt;
  const experts::Residency residency = experts.residency();
  return fmt::format(
      "{:.0f} % of the experts that decoding used over the stats window were resident, with {} of {} in slots; more "
      "memory or fewer requests at a time would help",
      hit_ratio(count) * 100, residency.slots, residency.experts);
}

std::optional<std::string> TroubleWatch::hot_expert(const experts::TrafficShape& shape) {
  const model::Hyperparameters& model = assembly_.blueprint().hyperparameters();
  if (!judge_.one_expert_takes_more(shape, static_cast<double>(model.experts_used) / model.experts))
    return std::nullopt;
  return fmt::format(
      "expert {} of layer {} serves {:.0f} % of the tokens of the stats window; evenly spread it would "
      "be {:.0f} %",
      shape.largest_expert, shape.largest_layer, shape.largest_share * 100, 100.0 * model.experts_used / model.experts);
}

std::optional<std::string> TroubleWatch::narrow_topic(const experts::TrafficShape& shape) {
  if (!judge_.topic_is_narrow(shape)) return std::nullopt;
  return fmt::format(
      "the traffic of the stats window uses as few experts as one narrow topic does ({:.0f} % of them evenly, {:.0f} % "
      "since the start); other topics will begin cold",
      shape.spread * 100, shape.spread_of_all * 100);
}

}  // namespace luce::app
