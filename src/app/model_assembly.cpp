#include "app/model_assembly.hpp"

#include <algorithm>
#include <filesystem>

#include "app/condition_list.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/memory_limit.hpp"
#include "experts/gguf_source.hpp"

namespace luce::app {
namespace {

constexpr int kMostAutomaticContext = 32768;
constexpr int64_t kThreadBytes = int64_t{256} << 10;  // stack and heap that a worker touches
constexpr int64_t kWorkingBytes = int64_t{8} << 20;   // requests, answers, buffers of a running server

tensor::Format kv_format_of(const std::string& name) {
  if (name == "f32") return tensor::Format::f32;
  return name == "q8_0" ? tensor::Format::q8_0 : tensor::Format::f16;
}

text::Tokenizer make_tokenizer(const gguf::File& file, int64_t& bytes) {
  const int64_t before = base::resident_bytes();
  text::Tokenizer tokenizer(file.metadata());
  bytes = std::max<int64_t>(0, base::resident_bytes() - before);
  return tokenizer;
}

/// Errors about the model's content name its file.
model::Blueprint make_blueprint(const gguf::File& file, const device::Device& device) {
  try {
    return {file, device};
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", file.path(), error.what());
  }
}

const ResolvedSettings& checked(const ResolvedSettings& settings) {
  check_device(settings.values.device);
  return settings;
}

}  // namespace

ModelAssembly::ModelAssembly(const ModelPath& path, const ResolvedSettings& settings, StepNeeds needs)
    : file_(gguf::File::open(path.path)),
      device_({checked(settings).values.device.threads.value_or(0),
               settings.values.device.isa.empty() ? "auto" : settings.values.device.isa}),
      blueprint_(make_blueprint(file_, device_)),
      tokenizer_(make_tokenizer(file_, tokenizer_bytes_)),
      limits_(step_limits(settings, needs)) {
  const bool has_experts = !blueprint_.expert_layers().empty();
  load_settings_ = {limits_, kv_format_of(settings.values.engine.cache_type)};
  model::check_kv_format(blueprint_.hyperparameters(), load_settings_.kv_format);
  conditions_ = judge_settings(settings, {blueprint_.shape().architecture, has_experts, false});
  if (has_experts) {
    source_ = std::make_unique<experts::GgufExpertSource>(file_, device_, blueprint_.hyperparameters().layers);
    choose_policy(settings);
    trace_path_ = settings.values.router.trace_path;
  }
  plan_ = make_plan(settings);
  cache_settings_.tier.slots = plan_.slots;
  cache_settings_.stats_window_tokens = settings.values.cache.stats_window;
  cache_settings_.warmup_tokens = settings.values.cache.warmup_tokens;
  if (!has_experts) return;
  choose_router(settings);
  choose_bias(settings);
}

void ModelAssembly::load(const Progress& progress) {
  if (source_) experts_ = std::make_unique<experts::CachedExpertService>(std::move(source_), device_, cache_settings_);
  device::ExpertService* service = experts_.get();
  if (experts_ && !trace_path_.empty()) {
    start_recording();
    service = recording_.get();
  }
  model_ = model::load(blueprint_, device_, service, load_settings_, progress);
}

model::StepLimits ModelAssembly::step_limits(const ResolvedSettings& settings, const StepNeeds& needs) const {
  const int trained = blueprint_.hyperparameters().trained_context;
  const int automatic = std::min(trained > 0 ? trained : 4096, kMostAutomaticContext);
  model::StepLimits limits;
  limits.context_tokens =
      needs.context_tokens > 0 ? needs.context_tokens : settings.values.engine.context_tokens.value_or(automatic);
  limits.sequences = needs.sequences;
  limits.rows = needs.rows > 0 ? needs.rows : settings.values.engine.prompt_rows + needs.sequences;
  limits.logit_rows = needs.logit_rows;
  return limits;
}

plan::MemoryPlan ModelAssembly::make_plan(const ResolvedSettings& settings) const {
  const Settings& values = settings.values;
  plan::MemoryRequest request;
  request.budget_bytes = values.cache.ram_memory_bytes;
  // The budget is for the whole process, so what it has taken already is a part of it.
  request.available_bytes =
      base::read_memory_limit(values.monitor.system_root).available_bytes + base::resident_bytes();
  request.context_tokens = limits_.context_tokens;
  request.sequences = limits_.sequences;
  request.chunk_rows = limits_.rows;
  request.output_rows = limits_.logit_rows;
  request.kv_format = load_settings_.kv_format;
  request.expert_share = values.cache.expert_share;
  request.experts_per_layer = values.cache.experts_per_layer;
  request.tokenizer_bytes = tokenizer_bytes_;
  const int workers = limits_.sequences + values.engine.queue;
  request.overhead_bytes =
      std::max<int64_t>(0, base::resident_bytes() - tokenizer_bytes_) + kWorkingBytes + workers * kThreadBytes;
  if (source_) request.staging_bytes = static_cast<int64_t>(experts::fixed_bytes(*source_, cache_settings_));
  return plan::plan_memory(blueprint_.shape(), request);
}

void ModelAssembly::choose_policy(const ResolvedSettings& settings) {
  const std::string& wanted = settings.values.cache.eviction_policy;
  try {
    cache_settings_.tier.policy = experts::PolicySpec::parse(wanted);
  } catch (const Error&) {
    // The default may be a policy that this version lacks; what decides is then said aloud.
    cache_settings_.tier.policy = experts::PolicySpec::parse("lru");
    conditions_.push_back({"eviction-policy", "degraded", wanted + " is not there yet; lru decides"});
  }
}

void ModelAssembly::choose_bias(const ResolvedSettings& settings) {
  const RouterSettings& router = settings.values.router;
  if (router.hot_bias <= 0) return;
  const auto cycle = static_cast<int64_t>(blueprint_.expert_layers().size()) * decode_top_k();
  if (plan_.total_slots < cycle) {
    conditions_.push_back(
        {"hot-bias", "inactive", fmt::format("the cache holds {} experts, a token uses {}", plan_.total_slots, cycle)});
    return;
  }
  cache_settings_.bias = {router.hot_bias, router.balance_penalty, router.bias_is_guarded};
  conditions_.push_back({"hot-bias", "active",
                         fmt::format("after {} tokens decoding may use resident experts in place of routed ones, which "
                                     "changes answers; luce_router_substituted_total counts them",
                                     cache_settings_.warmup_tokens)});
}

void ModelAssembly::choose_router(const ResolvedSettings& settings) {
  const RouterSettings& router = settings.values.router;
  const int own = blueprint_.hyperparameters().experts_used;
  const int top_k = router.top_k.value_or(own);
  if (top_k > own) fail(ErrorKind::usage, "--router-top-k is {} but must be 1 to {}, what the model uses", top_k, own);
  cache_settings_.router = {top_k == own ? 0 : top_k, static_cast<float>(router.temperature)};
  if (top_k < own)
    conditions_.push_back({"router-top-k", "active",
                           fmt::format("decoding uses the best {} of {} experts, which changes answers; "
                                       "luce_router_dropped_total counts the others",
                                       top_k, own)});
  else if (router.top_k)
    conditions_.push_back({"router-top-k", "inactive", fmt::format("{} is the model's own", own)});
  if (router.temperature != 1)
    conditions_.push_back({"router-temperature", "active",
                           fmt::format("decoding weighs experts at temperature {}, which changes answers; "
                                       "luce_router_reweighted_total counts them",
                                       router.temperature)});
}

void ModelAssembly::start_recording() {
  experts::RecorderSettings settings;
  settings.path = trace_path_;
  settings.experts = experts_->usage().experts();
  settings.top_k = decode_top_k();
  settings.open_sequences = static_cast<size_t>(limits_.sequences) + 1;
  settings.warn = [](const std::string& message) { base::log_warning("{}", message); };
  recorder_ = std::make_unique<experts::RouteRecorder>(std::move(settings));
  recording_ = std::make_unique<experts::RecordingService>(*experts_, *recorder_);
}

std::string served_name(const ModelSettings& settings, const std::string& path) {
  if (!settings.alias.empty()) return settings.alias;
  std::string name = std::filesystem::path(path).stem().string();
  const size_t part = name.rfind("-00001-of-");
  return part == std::string::npos ? name : name.substr(0, part);
}

}  // namespace luce::app
