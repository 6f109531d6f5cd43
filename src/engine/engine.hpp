#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "engine/event.hpp"
#include "engine/request.hpp"
#include "engine/request_handle.hpp"
#include "model/model.hpp"
#include "telemetry/registry.hpp"

namespace luce::engine {

/// Totals of the expert cache since its start.
struct ExpertTotals {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t bytes_fetched = 0;
  uint64_t substituted = 0;
  uint64_t dropped = 0;
  uint64_t reweighted = 0;
  double stall_seconds = 0;
};

/// Rows of one sequence in a step that has run.
struct StepRows {
  uint64_t sequence = 0;  // number of the request, in order of admission
  int rows = 0;
  bool decode = false;
  const Request* request = nullptr;  // while the call lasts
};

struct EngineSettings {
  int queue_capacity = 64;                     // requests that may wait for a sequence slot
  int prompt_rows = 512;                       // prompt tokens of a step while no sequence decodes, a multiple of 64
  int prompt_rows_beside_decode = 64;          // and while one does, a multiple of 64
  double step_seconds_target = 1.0;            // smaller prompt chunks, never below 64, where a step would take longer
  std::chrono::milliseconds patience{10'000};  // of requests that wait while a Hold has new ones refused
  size_t prompt_cache_bytes = 64 << 20;        // recurrent states kept to resume conversations
  telemetry::Registry* registry = nullptr;     // of the metrics; must outlive the engine
  std::function<ExpertTotals()> expert_totals = {};  // read by the step thread around each step; may be empty
  // Told by the step thread of each step's rows in their order, before it runs and after it has run well; may be empty.
  std::function<void(std::span<const StepRows>)> before_step = {};
  std::function<void(std::span<const StepRows>)> on_step = {};
};

/// An order to start no requests for now; those that run go on.
struct Hold {
  std::string why;      // for clients
  bool refuse = false;  // new requests, instead of letting them wait
};

struct QueueFull {};
/// New requests are refused for now.
struct Held {
  std::string why;
};
struct Stopping {};
struct ContextOverflow {
  int prompt_tokens = 0;
  int context_tokens = 0;
};
/// Why there may be no handle: the caller answers 503, 503, 400 and 503.
using SubmitResult = std::variant<RequestHandle, QueueFull, Stopping, ContextOverflow, Held>;

struct EngineStatus {
  int queued = 0;
  int running = 0;
  int sequence_slots = 0;
  int context_tokens = 0;  // of one sequence
  size_t cached_state_bytes = 0;
};

class StepLoop;

/// Runs requests on a model: its one step thread schedules sequences, samples and sends events. All methods are
/// thread-safe and, but for drain() and stop(), never wait for a step.
class Engine {
 public:
  /// `model` must outlive the engine and is used by the step thread only.
  Engine(model::Model& model, EngineSettings settings);
  /// stop()
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Queues a request. Throws Error{invalid_request} for an empty prompt or a token outside the vocabulary.
  SubmitResult submit(Request request);

  /// Starts no requests until the order is taken back (none). Those that wait longer than `patience` while new
  /// ones are refused end with Failed{overloaded}.
  void hold(std::optional<Hold> order);

  /// Refuses new requests and waits until all others have ended; false when `timeout` passes first.
  bool drain(std::chrono::milliseconds timeout);
  /// Refuses new requests, ends all others with Failed{cancelled} after the step that runs, and joins the step thread.
  void stop();

  EngineStatus status() const;

 private:
  int vocabulary_;
  int context_tokens_;
  std::unique_ptr<StepLoop> loop_;
};

}  // namespace luce::engine
