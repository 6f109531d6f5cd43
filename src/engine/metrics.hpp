#pragma once

#include <chrono>
#include <string>

#include "engine/event.hpp"
#include "telemetry/registry.hpp"

namespace luce::engine {

/// What the engine tells at /metrics. Thread-safe.
class Metrics {
 public:
  /// Without a registry (null) nothing is kept.
  explicit Metrics(telemetry::Registry* registry);

  void queued(int change) const { queue_length_.add(change); }
  void set_running(int sequences) const { running_.set(sequences); }
  void set_cached_state(size_t bytes) const { cached_state_bytes_.set(static_cast<double>(bytes)); }

  void prompt_rows(int rows) const { prompt_tokens_.add(rows); }
  void cached_tokens(int tokens) const { cached_tokens_.add(tokens); }
  void first_token(std::chrono::duration<double, std::milli> since_submit) const;
  void next_token(std::chrono::duration<double, std::milli> since_previous) const;
  void ended(const Event& end) const;
  /// A request that was not accepted.
  void refused(const std::string& why) const { count(why); }

 private:
  void count(const std::string& outcome) const;

  telemetry::Registry* registry_;
  telemetry::Gauge queue_length_;
  telemetry::Gauge running_;
  telemetry::Gauge cached_state_bytes_;
  telemetry::Counter prompt_tokens_;
  telemetry::Counter cached_tokens_;
  telemetry::Counter generated_tokens_;
  telemetry::Histogram first_token_ms_;
  telemetry::Histogram token_ms_;
};

}  // namespace luce::engine
