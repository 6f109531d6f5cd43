#pragma once

#include <cstdint>
#include <span>

#include "device/tensor.hpp"

namespace luce::device {

/// What a row of a step is: prompts must not push out what decoding needs, so usage keeps them apart.
enum class RowClass : uint8_t { prompt, decode };

/// The place of an expert that a row does without; such places are a row's last.
inline constexpr int32_t kNoExpert = -1;

/// What was asked to differ from the model's own router, for decode rows only; it changes answers.
struct RouterChange {
  int top_k = 0;          // fewer experts than the model's; 0: as many
  float temperature = 1;  // logits are divided by it before the gate: above 1 the chosen weigh more alike

  bool changes() const { return top_k > 0 || temperature != 1.0F; }
  int top_k_of(int own) const { return top_k > 0 && top_k < own ? top_k : own; }
};

/// One layer's routing in one step, as the unbiased router chose it.
struct Routing {
  int layer = 0;  // index among all layers of the model
  int rows = 0;
  int top_k = 0;
  const int32_t* ids = nullptr;       // [rows, top_k], in router order, kNoExpert behind them
  const float* weights = nullptr;     // [rows, top_k], mixing weights
  const RowClass* classes = nullptr;  // [rows]
};

/// One row's choice of experts, as the router made it.
struct SelectionRow {
  int layer = 0;  // index among all layers of the model
  int row = 0;    // of the step
  RowClass row_class = RowClass::decode;
  std::span<const float> logits;   // [experts]
  std::span<const float> weights;  // [chosen], mixing weights of the choice
  std::span<int32_t> ids;          // [chosen], up to top_k, largest logit first; may be changed
};

/// Bends the router's choice where that was asked for. Called by select_experts, from one thread.
class SelectionRule {
 public:
  virtual ~SelectionRule() = default;
  /// A layer's selection begins.
  virtual void begin(int layer, int rows, int top_k) = 0;
  /// Each row in order. True if `ids` was changed: the mixing weights are then those that the gate gives to the new
  /// set.
  virtual bool revise(const SelectionRow& row) = 0;
};

/// Where an expert's packed matrices lie while its wave runs. In a fused file `gate` and `up` are parts of one piece.
struct PlacedExpert {
  int32_t expert = 0;
  Address gate = 0;  // [inner, width]
  Address up = 0;    // [inner, width]
  Address down = 0;  // [width, inner]
};

/// Shapes and formats that all routed experts of one layer share.
struct ExpertShape {
  int experts = 0;
  int64_t width = 0;  // model width
  int64_t inner = 0;  // expert feed-forward width
  tensor::Format gate = tensor::Format::f32;
  tensor::Format up = tensor::Format::f32;
  tensor::Format down = tensor::Format::f32;
};

/// The host's answer to one layer's routing: its experts in waves, resident ones first.
class Dispatch {
 public:
  virtual ~Dispatch() = default;
  /// The next experts, each routed one exactly once over all waves; empty after the last. Blocks until they are in
  /// their slots and pins them there; the pins of the wave before are released. Throws Error{io} if a read fails.
  virtual std::span<const PlacedExpert> next_wave() = 0;
};

/// Finds or fetches routed experts; implemented by experts/, called by devices at host points.
class ExpertService {
 public:
  virtual ~ExpertService() = default;
  virtual const ExpertShape& shape(int layer) const = 0;
  virtual RouterChange router_change() const { return {}; }
  /// What may change the router's choice before start() hears of it; null: nothing.
  virtual SelectionRule* selection_rule() { return nullptr; }
  /// Counts the routing and starts the fetches it needs. One dispatch is open at a time; the reference is valid, and
  /// its leases are held, until the next call of start() or end_step().
  virtual Dispatch& start(const Routing& routing) = 0;
  /// Releases what the step still pins.
  virtual void end_step() = 0;
};

}  // namespace luce::device
