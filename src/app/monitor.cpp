#include "app/monitor.hpp"

#include <fstream>

#include "base/byte_size.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/memory_limit.hpp"

namespace luce::app {
namespace {

const telemetry::Labels kDevice = {{"device", "cpu"}};

/// Swap that this process uses, in bytes.
int64_t swapped_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmSwap:") continue;
    int64_t kib = 0;
    status >> kib;
    return kib * 1024;
  }
  return 0;
}

double allocated_bytes(const device::Device& device) {
  using device::Purpose;
  size_t sum = 0;
  for (const Purpose each : {Purpose::weights, Purpose::kv_cache, Purpose::recurrent_state, Purpose::scratch,
                             Purpose::expert_slots, Purpose::staging})
    sum += device.allocated_bytes(each);
  return static_cast<double>(sum);
}

}  // namespace

Monitor::Monitor(telemetry::Registry& registry, const ModelAssembly& assembly, const engine::Engine& engine)
    : assembly_(assembly), engine_(engine), window_(assembly.stats_window_tokens()) {
  make_instruments(registry);
  registry.before_render([this] { update(); });
}

Monitor::~Monitor() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Monitor::make_instruments(telemetry::Registry& registry) {
  memory_used_ = registry.gauge({"luce_gpu_memory_used_bytes", "Bytes taken on the fastest device in use.", kDevice});
  expert_count_ = registry.gauge({"luce_gpu_cache_expert_count", "Experts resident in the fastest tier.", kDevice});
  hit_ratio_ = registry.gauge(
      {"luce_gpu_cache_hit_ratio", "Share of experts found resident while decoding, over the stats window.", kDevice});
  ram_usage_ = registry.gauge({"luce_ram_usage_bytes", "Resident bytes of this process."});
  generated_tokens_ = registry.counter({"luce_generated_tokens_total", "Tokens generated."});
  prompt_tokens_ = registry.counter({"luce_prompt_tokens_total", "Prompt tokens computed."});
  for (const plan::Part part : plan::kAllParts)
    registry
        .gauge(
            {"luce_memory_planned_bytes", "Bytes planned, by purpose.", {{"purpose", std::string(plan::name(part))}}})
        .set(static_cast<double>(assembly_.plan().bytes(part)));
  if (assembly_.experts() != nullptr) make_expert_instruments(registry);
}

void Monitor::make_expert_instruments(telemetry::Registry& registry) {
  layer_metrics_.emplace(registry, assembly_.blueprint().hyperparameters().layers);
  for (const char* phase : {"prompt", "decode"}) {
    counters_[std::string("hits ") + phase] =
        registry.counter({"luce_expert_hits_total", "Experts of a layer and step found resident.", {{"phase", phase}}});
    counters_[std::string("misses ") + phase] = registry.counter(
        {"luce_expert_misses_total", "Experts of a layer and step that were not resident.", {{"phase", phase}}});
  }
  const std::map<std::string, std::string> help = {
      {"luce_expert_fetches_total", "Experts fetched from the slower tier."},
      {"luce_expert_fetch_errors_total", "Fetches that failed."},
      {"luce_expert_fetched_bytes_total", "Bytes fetched from the slower tier."},
      {"luce_expert_fetch_seconds_total", "Seconds of fetching, summed over parallel fetches."},
      {"luce_expert_stall_seconds_total", "Seconds that steps waited for experts with nothing else to do."},
      {"luce_expert_fetched_ahead_total", "Fetches for the session or tag of a request that started."},
      {"luce_expert_streamed_total", "Fetches that served one step and were not kept."},
      {"luce_expert_evictions_total", "Experts that left their slot."},
      {"luce_router_substituted_total", "Routed experts that the hot bias replaced by resident ones."},
      {"luce_router_dropped_total", "Routed experts that decoding went without, since --router-top-k is smaller."},
      {"luce_router_reweighted_total", "Experts whose mixing weight another --router-temperature gave."},
      {"luce_router_displaced_weight_total", "Sum of the mixing weights of replaced experts."},
      {"luce_expert_never_reused_total", "Experts evicted without a hit after the step they came for."}};
  for (const auto& [name, text] : help) counters_[name] = registry.counter({name, text});
  for (int expert = 0; expert < assembly_.blueprint().hyperparameters().experts; ++expert) {
    const telemetry::Labels labels = {{"expert_id", std::to_string(expert)}};
    expert_usage_.push_back(
        registry.gauge({"luce_router_expert_usage",
                        "Times the router chose this expert, over all layers, in the stats window.", labels}));
    expert_weight_.push_back(registry.gauge(
        {"luce_router_expert_weight", "Sum of the mixing weights it was chosen with, likewise.", labels}));
  }
}

void Monitor::raise(const telemetry::Counter& counter, const std::string& name, double total) {
  double& told = told_[name];
  counter.add(total - told);
  told = total;
}

void Monitor::update() {
  const std::lock_guard lock(mutex_);
  memory_used_.set(allocated_bytes(assembly_.device()));
  ram_usage_.set(static_cast<double>(base::resident_bytes()));
  if (assembly_.experts() != nullptr) update_experts();
}

void Monitor::update_experts() {
  const experts::CachedExpertService& experts = *assembly_.experts();
  const experts::ServiceCounters now = experts.counters();
  expert_count_.set(experts.residency().resident);
  hit_ratio_.set(hit_ratio(window_.advance(experts.usage().tokens(), now.decode)));
  layer_metrics_->update(experts);
  const std::map<std::string, double> totals = {
      {"hits prompt", static_cast<double>(now.prompt.hits)},
      {"hits decode", static_cast<double>(now.decode.hits)},
      {"misses prompt", static_cast<double>(now.prompt.misses)},
      {"misses decode", static_cast<double>(now.decode.misses)},
      {"luce_expert_fetches_total", static_cast<double>(now.fetches)},
      {"luce_expert_fetch_errors_total", static_cast<double>(now.fetch_errors)},
      {"luce_expert_fetched_bytes_total", static_cast<double>(now.bytes_fetched)},
      {"luce_expert_fetch_seconds_total", now.fetch_seconds},
      {"luce_expert_stall_seconds_total", now.stall_seconds},
      {"luce_expert_fetched_ahead_total", static_cast<double>(now.fetched_ahead)},
      {"luce_expert_streamed_total", static_cast<double>(now.streamed)},
      {"luce_expert_evictions_total", static_cast<double>(now.evictions)},
      {"luce_router_substituted_total", static_cast<double>(now.substituted)},
      {"luce_router_dropped_total", static_cast<double>(now.dropped)},
      {"luce_router_reweighted_total", static_cast<double>(now.reweighted)},
      {"luce_router_displaced_weight_total", now.displaced_weight},
      {"luce_expert_never_reused_total", static_cast<double>(now.never_reused)}};
  for (const auto& [name, total] : totals) raise(counters_[name], name, total);
  update_usage(experts.usage());
}

void Monitor::update_usage(const experts::Usage& usage) {
  for (size_t expert = 0; expert < expert_usage_.size(); ++expert) {
    uint64_t chosen = 0;
    double weight = 0;
    for (int layer = 0; layer < usage.layers(); ++layer) {
      if (static_cast<int>(expert) >= usage.experts(layer)) continue;
      const experts::UsageCount count = usage.in_window(layer, static_cast<int32_t>(expert));
      chosen += count.prompt + count.decode;
      weight += count.weight;
    }
    expert_usage_[expert].set(static_cast<double>(chosen));
    expert_weight_[expert].set(weight);
  }
}

void Monitor::start_log(std::chrono::duration<double> interval) {
  if (interval.count() > 0) thread_ = std::thread([this, interval] { log_loop(interval); });
}

void Monitor::log_loop(std::chrono::duration<double> interval) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, interval, [this] { return closing_; })) return;
    }
    update();
    log_once(interval.count());
  }
}

void Monitor::log_once(double seconds) {
  const engine::EngineStatus status = engine_.status();
  const double generated = generated_tokens_.value() - last_generated_;
  const double prompt = prompt_tokens_.value() - last_prompt_;
  last_generated_ += generated;
  last_prompt_ += prompt;
  const bool busy = generated > 0 || prompt > 0 || status.running + status.queued > 0;
  if (!busy && !was_busy_) return;
  was_busy_ = busy;
  std::string line = fmt::format("{:.1f} tokens/s, prompt {:.1f} tokens/s", generated / seconds, prompt / seconds);
  if (assembly_.experts() != nullptr)
    line += fmt::format(", expert hits {:.1f} %, {} experts resident", hit_ratio_.value() * 100,
                        assembly_.experts()->residency().resident);
  base::log_info("{}, RAM {}, swap {}, {} running, {} queued", line, base::format_bytes(base::resident_bytes()),
                 base::format_bytes(swapped_bytes()), status.running, status.queued);
}

void count_request(telemetry::Registry& registry, const server::RequestRecord& record) {
  registry
      .counter({"luce_http_requests_total",
                "HTTP requests answered.",
                {{"route", record.route}, {"outcome", server::outcome_name(record.outcome)}}})
      .add();
}

void show_conditions(telemetry::Registry& registry, const std::vector<server::Condition>& conditions) {
  for (const server::Condition& each : conditions)
    registry
        .gauge({"luce_state",
                "1 for the state in which something that was asked for is.",
                {{"name", each.name}, {"state", each.state}}})
        .set(1);
}

}  // namespace luce::app
