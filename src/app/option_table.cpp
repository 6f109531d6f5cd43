#include "app/option_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "app/option_value.hpp"

namespace luce::app {
namespace {

using Text = const std::string&;

constexpr unsigned kEngineUsers = kServe | kRun | kBench;
constexpr unsigned kEveryone = kEngineUsers | kLogits | kPlan;
constexpr int kMostTokens = 1 << 24;

// Shorthands for the rows below: a setter and a getter of one member.
#define LUCE_SET(member, expression) [](Settings& s, Text text) { s.member = (expression); }
#define LUCE_SHOW(expression) []([[maybe_unused]] const Settings& s) -> std::string { return (expression); }

std::string show_switch(bool on) { return on ? "true" : "false"; }

template <typename T>
std::string show_or(const std::optional<T>& value, const char* otherwise) {
  return value ? show_number(static_cast<double>(*value)) : otherwise;
}

std::string show_size_or(const std::optional<int64_t>& bytes, const char* otherwise) {
  return bytes ? show_size(*bytes) : otherwise;
}

std::optional<int64_t> size_or_auto(Text text) {
  if (text == "auto") return std::nullopt;
  return parse_size(text);
}

std::optional<int> count_or_auto(Text text, int least, int most) {
  if (text == "auto") return std::nullopt;
  return static_cast<int>(parse_whole(text, least, most));
}

std::string parse_device(Text text) {
  if (text == "auto" || text == "cpu" || text == "vulkan") return text;
  if (text.substr(0, 7) == "vulkan:") {
    parse_whole(text.substr(7), 0, 63);
    return text;
  }
  throw BadValue("auto, cpu, vulkan or vulkan:N");
}

std::optional<uint64_t> parse_seed(Text text) {
  const int64_t seed = parse_whole(text, -1, INT64_MAX);
  return seed < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(seed));
}

void set_api_keys(Settings& settings, Text text) {
  settings.access.api_keys = parse_list(text);
  settings.access.api_key_given = true;
}

constexpr Option kOptions[] = {
    {"model", "model", "NAME|FILE", "model file, or a name in the model folder; the demo model if not given",
     kEngineUsers, LUCE_SET(model.model, text), LUCE_SHOW(s.model.model)},
    {"alias", "alias", "NAME", "name of the model in answers; after its file if not given", kServe,
     LUCE_SET(model.alias, text), LUCE_SHOW(s.model.alias)},
    {"chat-template", "chat_template", "FILE", "Jinja file used instead of the model's own chat template",
     kServe | kRun, LUCE_SET(model.chat_template, text), LUCE_SHOW(s.model.chat_template)},

    {"host", "server.host", "ADDRESS", "address to listen on; localhost means 127.0.0.1 and ::1", kServe,
     LUCE_SET(address.host, text), LUCE_SHOW(s.address.host)},
    {"port", "server.port", "PORT", "port to listen on; 0 takes a free one", kServe,
     LUCE_SET(address.port, static_cast<int>(parse_whole(text, 0, 65535))), LUCE_SHOW(std::to_string(s.address.port))},
    {"api-key", "server.api_key", "KEY[,KEY]", "keys of which every request but /health must send one", kServe,
     set_api_keys, LUCE_SHOW(s.access.api_keys.empty() ? "" : "set")},
    {"allowed-hosts", "server.allowed_hosts", "LIST", "further Host names and page origins that may call", kServe,
     LUCE_SET(access.allowed_hosts, parse_list(text)), LUCE_SHOW("")},
    {"strict-model", "server.strict_model", nullptr, "refuse requests that name another model", kServe,
     LUCE_SET(access.strict_model, parse_switch(text)), LUCE_SHOW(show_switch(s.access.strict_model))},
    {"max-body", "server.max_body_mib", "SIZE", "largest request body", kServe,
     LUCE_SET(http.body_bytes, parse_size(text)), LUCE_SHOW(show_size(s.http.body_bytes)), "MiB"},
    {"header-timeout", "server.header_timeout_sec", "SECONDS", "time for a request's headers to arrive", kServe,
     LUCE_SET(http.header_timeout_seconds, parse_decimal(text, 0.1, 3600)),
     LUCE_SHOW(show_number(s.http.header_timeout_seconds))},
    {"body-timeout", "server.body_timeout_sec", "SECONDS", "time for each further part of a body to arrive", kServe,
     LUCE_SET(http.body_timeout_seconds, parse_decimal(text, 0.1, 3600)),
     LUCE_SHOW(show_number(s.http.body_timeout_seconds))},
    {"keep-alive-interval", "server.keep_alive_interval_sec", "SECONDS", "comments in a stream that has nothing to say",
     kServe, LUCE_SET(http.keep_alive_seconds, parse_decimal(text, 0.1, 3600)),
     LUCE_SHOW(show_number(s.http.keep_alive_seconds))},
    {"drain-timeout", "server.drain_timeout_sec", "SECONDS", "time that running requests get to end at a stop", kServe,
     LUCE_SET(http.drain_timeout_seconds, parse_decimal(text, 0, 3600)),
     LUCE_SHOW(show_number(s.http.drain_timeout_seconds))},

    {"ctx-size", "server.ctx_size", "TOKENS|auto",
     "context of one request; auto: what the model was trained for, at most 32768", kEngineUsers | kPlan,
     LUCE_SET(engine.context_tokens, count_or_auto(text, 8, kMostTokens)),
     LUCE_SHOW(show_or(s.engine.context_tokens, "auto"))},
    {"parallel", "server.parallel", "N", "requests that run at the same time", kServe | kPlan,
     LUCE_SET(engine.parallel, static_cast<int>(parse_whole(text, 1, 256))),
     LUCE_SHOW(std::to_string(s.engine.parallel))},
    {"queue", "server.queue", "N", "requests that may wait for a place", kServe,
     LUCE_SET(engine.queue, static_cast<int>(parse_whole(text, 1, 1024))), LUCE_SHOW(std::to_string(s.engine.queue))},
    {"prompt-rows", "server.prompt_rows", "TOKENS", "prompt tokens computed in one step, a multiple of 64",
     kEngineUsers, LUCE_SET(engine.prompt_rows, static_cast<int>(parse_whole(text, 64, 8192) / 64 * 64)),
     LUCE_SHOW(std::to_string(s.engine.prompt_rows))},
    {"prompt-cache", "server.prompt_cache_mib", "SIZE", "memory for the states of earlier prompts", kServe | kRun,
     LUCE_SET(engine.prompt_cache_bytes, parse_size(text)), LUCE_SHOW(show_size(s.engine.prompt_cache_bytes)), "MiB"},
    {"cache-type", "spark.cache_type", "TYPE", "format of keys and values: f16, f32 or q8_0",
     kEngineUsers | kPlan | kLogits, LUCE_SET(engine.cache_type, parse_choice(text, {"f16", "f32", "q8_0"})),
     LUCE_SHOW(s.engine.cache_type)},

    {"device", "spark.device", "DEVICE", "auto, cpu, vulkan or vulkan:N", kEveryone,
     LUCE_SET(device.device, parse_device(text)), LUCE_SHOW(s.device.device)},
    {"threads", "spark.threads", "N|auto", "compute threads; auto: one per core that may be used",
     kEngineUsers | kLogits, LUCE_SET(device.threads, count_or_auto(text, 1, 1024)),
     LUCE_SHOW(show_or(s.device.threads, "auto"))},
    {"isa", "spark.isa", "NAME", "force an instruction set: portable, avx2, avx2_vnni, avx512 or avx512_vnni",
     kEngineUsers | kLogits,
     LUCE_SET(device.isa, parse_choice(text, {"portable", "avx2", "avx2_vnni", "avx512", "avx512_vnni"})),
     LUCE_SHOW(s.device.isa)},
    {"cpu-moe", "spark.cpu_moe", nullptr, "keep all experts in RAM and compute them there", kEngineUsers,
     LUCE_SET(device.cpu_moe, parse_switch(text)), LUCE_SHOW(show_switch(s.device.cpu_moe))},
    {"n-cpu-moe", "spark.n_cpu_moe", "N", "the same for the first N layers", kEngineUsers,
     LUCE_SET(device.n_cpu_moe, static_cast<int>(parse_whole(text, 0, 4096))),
     LUCE_SHOW(std::to_string(s.device.n_cpu_moe))},
    {"reproducible", "spark.reproducible", nullptr,
     "bit-identical output on a GPU too, by fetching instead of computing in place", kEngineUsers,
     LUCE_SET(device.reproducible, parse_switch(text)), LUCE_SHOW(show_switch(s.device.reproducible))},
    {"gpu-memory", "spark.gpu_memory_limit_gib", "SIZE|auto", "cap on everything on the GPU", kEngineUsers | kPlan,
     LUCE_SET(cache.gpu_memory_bytes, size_or_auto(text)), LUCE_SHOW(show_size_or(s.cache.gpu_memory_bytes, "auto")),
     "GiB"},
    {"ram-memory", "spark.ram_memory_limit_gib", "SIZE|auto", "cap on everything in RAM", kEveryone,
     LUCE_SET(cache.ram_memory_bytes, size_or_auto(text)), LUCE_SHOW(show_size_or(s.cache.ram_memory_bytes, "auto")),
     "GiB"},
    {"gpu-cache-experts", "spark.gpu_cache.max_experts", "N|auto",
     "resident experts per layer on average; auto fills the budget", kEngineUsers | kPlan,
     LUCE_SET(cache.experts_per_layer, count_or_auto(text, 1, 65536)),
     LUCE_SHOW(show_or(s.cache.experts_per_layer, "auto"))},
    {"expert-share", "spark.gpu_cache.expert_share", "SHARE",
     "share of the experts resident, such as 30%; 0% is one slot per layer", kEngineUsers | kPlan | kLogits,
     LUCE_SET(cache.expert_share, parse_share(text)), LUCE_SHOW(show_or(s.cache.expert_share, ""))},
    {"eviction-policy", "spark.gpu_cache.eviction_policy", "POLICY", "lru or hot-score", kEngineUsers,
     LUCE_SET(cache.eviction_policy, parse_choice(text, {"lru", "hot-score"})), LUCE_SHOW(s.cache.eviction_policy)},
    {"warmup-tokens", "spark.gpu_cache.warmup_tokens", "N", "tokens before the cache turns strict",
     kEngineUsers | kLogits, LUCE_SET(cache.warmup_tokens, parse_whole(text, 0, INT64_C(1) << 40)),
     LUCE_SHOW(std::to_string(s.cache.warmup_tokens))},

    {"router-profile-path", "router.profile_path", "FILE", "where expert usage is kept over restarts", kServe | kRun,
     LUCE_SET(router.profile_path, text), LUCE_SHOW(s.router.profile_path)},
    {"stats-window", "router.stats_window", "N", "tokens over which usage is judged", kEngineUsers,
     LUCE_SET(cache.stats_window, parse_whole(text, 1, INT64_C(1) << 40)),
     LUCE_SHOW(std::to_string(s.cache.stats_window))},
    {"hot-bias", "router.hot_bias", "X", "prefer resident experts; 0 is exact", kEngineUsers | kLogits,
     LUCE_SET(router.hot_bias, parse_decimal(text, 0, 0.15)), LUCE_SHOW(show_number(s.router.hot_bias))},
    {"balance-penalty", "router.balance_penalty", "X", "damps what the hot bias caused", kEngineUsers | kLogits,
     LUCE_SET(router.balance_penalty, parse_decimal(text, 0, 1)), LUCE_SHOW(show_number(s.router.balance_penalty))},
    {"router-top-k", "router.top_k", "N|auto", "fewer experts per decoded token; changes the model's answers",
     kEngineUsers | kLogits, LUCE_SET(router.top_k, count_or_auto(text, 1, 1024)),
     LUCE_SHOW(show_or(s.router.top_k, "auto"))},
    {"router-temperature", "router.temperature", "X",
     "above 1 lets a decoded token's experts weigh more alike; changes the model's answers", kEngineUsers | kLogits,
     LUCE_SET(router.temperature, parse_decimal(text, 0.01, 100)), LUCE_SHOW(show_number(s.router.temperature))},
    {"route-trace", "router.trace_path", "FILE", "record which experts are chosen", kServe | kRun,
     LUCE_SET(router.trace_path, text), LUCE_SHOW(s.router.trace_path)},

    {"enable-prometheus", "monitor.enable_prometheus", nullptr, "offer /metrics", kServe,
     LUCE_SET(monitor.enable_prometheus, parse_switch(text)), LUCE_SHOW(show_switch(s.monitor.enable_prometheus))},
    {"metrics-port", "monitor.metrics_port", "PORT", "second port for /metrics; 0 for none", kServe,
     LUCE_SET(monitor.metrics_port, static_cast<int>(parse_whole(text, 0, 65535))),
     LUCE_SHOW(std::to_string(s.monitor.metrics_port))},
    {"log-interval", "monitor.log_interval_sec", "SECONDS", "between lines about speed and cache; 0 for none", kServe,
     LUCE_SET(monitor.log_interval_seconds, parse_decimal(text, 0, 86400)),
     LUCE_SHOW(show_number(s.monitor.log_interval_seconds))},
    {"log-level", "monitor.log_level", "LEVEL", "debug, info, warning or error; no level logs texts", kEveryone,
     LUCE_SET(monitor.log_level, parse_choice(text, {"debug", "info", "warning", "error"})),
     LUCE_SHOW(s.monitor.log_level)},
    {"system-root", "monitor.system_root", "FOLDER",
     "where the system's /proc and /sys are found, for a container that has them elsewhere", kEveryone,
     LUCE_SET(monitor.system_root, text == "/" ? "" : text), LUCE_SHOW(s.monitor.system_root)},

    {"temperature", nullptr, "X", "0 always takes the most likely token", kRun,
     LUCE_SET(chat.sampling.temperature, static_cast<float>(parse_decimal(text, 0, 100))),
     LUCE_SHOW(show_number(s.chat.sampling.temperature))},
    {"top-k", nullptr, "N", "only the N most likely tokens; 0 for all", kRun,
     LUCE_SET(chat.sampling.top_k, static_cast<int>(parse_whole(text, 0, kMostTokens))),
     LUCE_SHOW(std::to_string(s.chat.sampling.top_k))},
    {"top-p", nullptr, "P", "only the most likely tokens that reach P together", kRun,
     LUCE_SET(chat.sampling.top_p, static_cast<float>(parse_decimal(text, 0, 1))),
     LUCE_SHOW(show_number(s.chat.sampling.top_p))},
    {"min-p", nullptr, "P", "only tokens with P of the largest probability", kRun,
     LUCE_SET(chat.sampling.min_p, static_cast<float>(parse_decimal(text, 0, 1))),
     LUCE_SHOW(show_number(s.chat.sampling.min_p))},
    {"repeat-penalty", nullptr, "X", "above 1 avoids tokens already seen", kRun,
     LUCE_SET(chat.sampling.repeat_penalty, static_cast<float>(parse_decimal(text, 0.01, 100))),
     LUCE_SHOW(show_number(s.chat.sampling.repeat_penalty))},
    {"presence-penalty", nullptr, "X", "avoids tokens already generated", kRun,
     LUCE_SET(chat.sampling.presence_penalty, static_cast<float>(parse_decimal(text, -2, 2))),
     LUCE_SHOW(show_number(s.chat.sampling.presence_penalty))},
    {"frequency-penalty", nullptr, "X", "the same, per time they were generated", kRun,
     LUCE_SET(chat.sampling.frequency_penalty, static_cast<float>(parse_decimal(text, -2, 2))),
     LUCE_SHOW(show_number(s.chat.sampling.frequency_penalty))},
    {"seed", nullptr, "N", "the same seed gives the same answer; -1 for a random one", kRun,
     LUCE_SET(chat.seed, parse_seed(text)), LUCE_SHOW(s.chat.seed ? std::to_string(*s.chat.seed) : "-1")},
    {"max-tokens", nullptr, "N", "longest answer; -1 for what the context holds", kRun,
     LUCE_SET(chat.max_tokens, static_cast<int>(parse_whole(text, -1, kMostTokens))),
     LUCE_SHOW(std::to_string(s.chat.max_tokens))},
};

#undef LUCE_SET
#undef LUCE_SHOW

}  // namespace

std::span<const Option> option_table() { return kOptions; }

const Option* find_flag(std::string_view flag) {
  const auto* const found =
      std::find_if(std::begin(kOptions), std::end(kOptions), [flag](const Option& each) { return flag == each.flag; });
  return found == std::end(kOptions) ? nullptr : found;
}

const Option* find_yaml_key(std::string_view key) {
  const auto* const found = std::find_if(std::begin(kOptions), std::end(kOptions), [key](const Option& each) {
    return each.yaml_key != nullptr && key == each.yaml_key;
  });
  return found == std::end(kOptions) ? nullptr : found;
}

std::string environment_name(const Option& option) {
  std::string name = "LUCE_";
  for (const char* c = option.flag; *c != '\0'; ++c)
    name += *c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
  return name;
}

}  // namespace luce::app
