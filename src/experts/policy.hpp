#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "experts/routing_digest.hpp"

namespace luce::experts {

/// One layer's memory of use, from which it says what is worth keeping. Deterministic: no clock, no I/O, no randomness.
class LayerPolicy {
 public:
  virtual ~LayerPolicy() = default;

  /// One step has passed and used these experts. Called once a step of the layer, before victims are chosen.
  virtual void record(const LayerUse& use) = 0;
  /// How much it is worth to hold this expert now; any finite number. The lowest is evicted first.
  virtual double keep_value(int32_t expert) const = 0;
  /// Whether a miss is admitted only if it is worth more than the weakest candidate.
  virtual bool gated() const { return false; }
  /// Of equal values the longest unused is evicted; otherwise the lowest id.
  virtual bool recency_breaks_ties() const { return true; }
};

/// A resident expert that may be evicted: not leased, not of the current step.
struct Candidate {
  int32_t expert = 0;
  int64_t last_step = 0;  // of the layer in which it was used
};

/// The candidate to evict for `incoming`: lowest keep value, then longest unused, then lowest id. Nothing if there is
/// no candidate or the policy's gate refuses.
std::optional<int32_t> choose_victim(const LayerPolicy& policy, std::span<const Candidate> candidates,
                                     int32_t incoming);

/// Makes the policy of each layer.
using PolicyFactory = std::function<std::unique_ptr<LayerPolicy>(int layer, int experts)>;

/// A policy by name: lru, lfu, decay:H, decay-gated:H, class-lru:H, age-crf:H, with the half-life H in steps.
class PolicySpec {
 public:
  /// Throws Error{usage} that lists the known names.
  static PolicySpec parse(std::string_view text);

  const std::string& text() const { return text_; }
  PolicyFactory factory() const {
    return [make = make_](int, int experts) { return make(experts); };
  }

 private:
  explicit PolicySpec(std::string text) : text_(std::move(text)) {}
  std::string text_;
  std::function<std::unique_ptr<LayerPolicy>(int experts)> make_;
};

/// Their names in one line.
std::string known_policies();

}  // namespace luce::experts
