#include "app/usage_memory.hpp"

#include "base/format.hpp"
#include "base/log.hpp"

namespace luce::app {
namespace {

constexpr const char* kFlag = "router-profile-path";

std::unique_ptr<experts::ProfileKeeper> make_keeper(const ModelAssembly& assembly, const ResolvedSettings& settings) {
  const RouterSettings& router = settings.values.router;
  if (assembly.experts() == nullptr || router.profile_path.empty()) return nullptr;
  experts::KeeperSettings keeper;
  keeper.path = router.profile_path;
  keeper.model = experts::fingerprint(*assembly.experts(), assembly.blueprint().shape().architecture,
                                      assembly.blueprint().shape().name);
  keeper.fade_tokens = static_cast<double>(settings.values.cache.stats_window);
  keeper.warn = [](const std::string& message) { base::log_warning("{}", message); };
  return std::make_unique<experts::ProfileKeeper>(*assembly.experts(), std::move(keeper));
}

/// Sessions and task tags whose usage is known.
void show_labels(telemetry::Registry& registry, const experts::RequestUsage& usage) {
  struct Kind {
    telemetry::Gauge known;
    telemetry::Counter forgotten;
  };
  const auto kind_of = [&](const char* name) -> Kind {
    return {registry.gauge({"luce_router_labels", "Sessions and tags whose usage is known.", {{"kind", name}}}),
            registry.counter({"luce_router_labels_forgotten_total",
                              "Sessions and tags that were forgotten for others that are used more.",
                              {{"kind", name}}})};
  };
  const Kind tags = kind_of("task_tag"), sessions = kind_of("session_id");
  const telemetry::Counter warm_starts = registry.counter(
      {"luce_router_warm_starts_total", "Requests whose session or tag was known, so that its experts were expected."});
  registry.before_render([=, &usage] {
    const experts::LabelTally tally = usage.tally();
    tags.known.set(static_cast<double>(tally.tags));
    sessions.known.set(static_cast<double>(tally.sessions));
    tags.forgotten.add(static_cast<double>(tally.tags_forgotten) - tags.forgotten.value());
    sessions.forgotten.add(static_cast<double>(tally.sessions_forgotten) - sessions.forgotten.value());
    warm_starts.add(static_cast<double>(tally.warm_starts) - warm_starts.value());
  });
}

}  // namespace

UsageMemory::UsageMemory(const ModelAssembly& assembly, const ResolvedSettings& settings)
    : experts_(assembly.experts()), recorder_(assembly.recorder()), keeper_(make_keeper(assembly, settings)) {}

UsageMemory::~UsageMemory() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  save();
}

void UsageMemory::start(std::function<void(const std::string&)> filled) {
  filled_ = std::move(filled);
  if (keeper_) keeper_->start_saving();
  if (experts_ != nullptr) thread_ = std::thread([this] { fill(); });
}

void UsageMemory::save() {
  if (keeper_) keeper_->save();
}

void UsageMemory::fill() const {
  experts::WarmResult known, rest;
  if (keeper_ && !keeper_->ranking().empty()) known = experts_->warm({keeper_->ranking(), 1.0, {}, &stop_});
  if (!known.stopped) rest = experts_->warm({{}, 1.0, {}, &stop_});
  const experts::WarmResult& failed = known.failed > 0 ? known : rest;
  if (failed.failed > 0)
    base::log_warning("{} experts could not be read: {}", known.failed + rest.failed, failed.first_failure->message);
  else if (filled_ && !known.stopped && !rest.stopped)
    filled_(
        fmt::format("the expert cache is warm: {} experts were read ahead, {} of them because the profile names them",
                    known.loaded + rest.loaded, known.loaded));
}

std::vector<server::Condition> UsageMemory::conditions() const {
  std::vector<server::Condition> conditions;
  if (keeper_) {
    const experts::KeeperState state = keeper_->state();
    conditions.push_back({kFlag, state.state, state.reason});
  }
  if (recorder_ != nullptr) {
    const std::string failure = recorder_->failure();
    conditions.push_back(
        {"route-trace", failure.empty() ? "active" : "degraded",
         failure.empty() ? "decoded tokens are recorded; the file is written anew every few seconds" : failure});
  }
  return conditions;
}

void UsageMemory::show(telemetry::Registry& registry) {
  if (experts_ != nullptr) show_labels(registry, experts_->request_usage());
  if (keeper_) show_profile(registry);
}

void UsageMemory::show_profile(telemetry::Registry& registry) {
  const telemetry::Gauge age = registry.gauge(
      {"luce_router_profile_age_seconds", "Seconds since the router profile on disk was saved, -1 without one."});
  const telemetry::Counter saves =
      registry.counter({"luce_router_profile_saves_total", "Times the router profile was saved."});
  const telemetry::Counter errors =
      registry.counter({"luce_router_profile_save_errors_total", "Times the router profile could not be saved."});
  const std::string help = "1 for the state in which something that was asked for is.";
  const auto gauge_of = [&](const char* state) {
    return registry.gauge({"luce_state", help, {{"name", kFlag}, {"state", state}}});
  };
  const telemetry::Gauge active = gauge_of("active");
  const telemetry::Gauge degraded = gauge_of("degraded");
  registry.before_render([=, this] {
    const experts::KeeperState state = keeper_->state();
    age.set(state.age_seconds);
    saves.add(static_cast<double>(state.saves) - saves.value());
    errors.add(static_cast<double>(state.save_errors) - errors.value());
    active.set(state.state == "active" ? 1 : 0);
    degraded.set(state.state == "degraded" ? 1 : 0);
  });
}

}  // namespace luce::app
