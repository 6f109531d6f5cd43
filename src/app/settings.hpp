#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sampling/settings.hpp"

namespace luce::app {

/// Which model, and what it is called to clients.
struct ModelSettings {
  std::string model;          // file, or name in the catalogue; empty: the demo model
  std::string alias;          // empty: after the file
  std::string chat_template;  // file that replaces the model's own template; empty: none
};

struct ServerAddress {
  std::string host = "localhost";  // both loopback addresses
  int port = 8000;
};

struct AccessControl {
  std::vector<std::string> api_keys;
  bool api_key_given = false;  // perhaps empty
  std::vector<std::string> allowed_hosts;
  bool strict_model = false;
};

struct HttpLimits {
  int64_t body_bytes = int64_t{16} << 20;
  double header_timeout_seconds = 10;
  double body_timeout_seconds = 10;
  double keep_alive_seconds = 10;  // between comments in a silent stream
  double drain_timeout_seconds = 2;
};

/// Sequences and their memory.
struct EngineLimits {
  std::optional<int> context_tokens;  // none: the trained context, at most 32768
  int parallel = 4;
  int queue = 32;
  int prompt_rows = 512;
  int64_t prompt_cache_bytes = int64_t{64} << 20;
  std::string cache_type = "f16";
};

struct DeviceSettings {
  std::string device = "auto";
  std::optional<int> threads;  // none: one per core that the process may use
  std::string isa;             // empty: the best
  bool cpu_moe = false;
  int n_cpu_moe = 0;
  bool reproducible = false;
};

/// How much fast memory, and how it is used.
struct CacheSettings {
  std::optional<int64_t> gpu_memory_bytes;
  std::optional<int64_t> ram_memory_bytes;
  std::optional<double> expert_share;    // 0 to 1
  std::optional<int> experts_per_layer;  // on average
  std::string eviction_policy = "hot-score";
  int64_t warmup_tokens = 20'000;
  int64_t stats_window = 10'000;
};

/// Everything here but the first and last changes which experts answer.
struct RouterSettings {
  std::string profile_path;
  double hot_bias = 0;
  double balance_penalty = 0.02;
  bool bias_is_guarded = true;  // no flag, variable or key sets it; `logits` does, to measure
  std::optional<int> top_k;
  double temperature = 1;
  std::string trace_path;
};

struct MonitorSettings {
  bool enable_prometheus = true;
  int metrics_port = 9100;  // 0: none of its own
  double log_interval_seconds = 5;
  std::string log_level = "info";
  std::string system_root;  // stands before /proc and /sys; empty: none
};

/// Sampling of `run`.
struct ChatSettings {
  sampling::SamplingSettings sampling = {.temperature = 0.7F, .top_p = 0.95F};
  std::optional<uint64_t> seed;
  int max_tokens = -1;
};

struct Settings {
  ModelSettings model;
  ServerAddress address;
  AccessControl access;
  HttpLimits http;
  EngineLimits engine;
  DeviceSettings device;
  CacheSettings cache;
  RouterSettings router;
  MonitorSettings monitor;
  ChatSettings chat;
};

}  // namespace luce::app
