#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experts/routing_digest.hpp"

namespace luce::experts {

/// What is known of traffic that begins.
struct ExpectedTraffic {
  std::span<const double> shares;  // [experts], summing to 1
  double weight = 0;               // 0 to 1: so much of what counts so far gives way to as much shared out like this
  double fresh = 0;                // 0 to 1: the share of running sequences that begin, and do not go on from before
};

/// One layer's memory of use, from which it says what is worth keeping. Deterministic: no clock, no I/O, no randomness.
class LayerPolicy {
 public:
  virtual ~LayerPolicy() = default;

  /// One step has passed and used these experts. Called once a step of the layer, before victims are chosen.
  virtual void record(const LayerUse& use) = 0;
  /// How much it is worth to hold this expert now; any finite number. The lowest is evicted first.
  virtual double keep_value(int32_t expert) const = 0;
  /// A miss is admitted only if it is worth more than this many times the weakest candidate; none: always.
  virtual std::optional<double> gate() const { return std::nullopt; }
  /// Whether experts that only prompts use must be worth more than what they replace, gate or not.
  virtual bool separates_prompts() const { return false; }
  /// Starts with these uses [experts] as if they had just happened.
  virtual void seed(std::span<const double> uses) { static_cast<void>(uses); }
  /// Uses as they count now [experts], such that seed() with them goes on from here; empty if the policy has none.
  virtual std::vector<double> uses() const { return {}; }
  /// Traffic changes: what to expect of it.
  virtual void expect(const ExpectedTraffic& traffic) { static_cast<void>(traffic); }
  /// Of equal values the longest unused is evicted; otherwise the lowest id.
  virtual bool recency_breaks_ties() const { return true; }
};

/// A resident expert that may be evicted: not leased, not of the current step.
struct Candidate {
  int32_t expert = 0;
  int64_t last_step = 0;  // of the layer in which it was used
};

/// The candidate to evict for `incoming`: lowest keep value, then longest unused, then lowest id. Nothing if there is
/// no candidate, or `incoming` is not worth more than `gate` times it.
std::optional<int32_t> choose_victim(const LayerPolicy& policy, std::span<const Candidate> candidates, int32_t incoming,
                                     std::optional<double> gate);

/// Makes the policy of each layer.
using PolicyFactory = std::function<std::unique_ptr<LayerPolicy>(int layer, int experts)>;

/// A policy by name: lru, hot-score, hot-score-gated, lfu, decay:H, decay-gated:H, class-lru:H, age-crf:H, with the
/// half-life H in steps.
class PolicySpec {
 public:
  /// Throws Error{usage} that lists the known names.
  static PolicySpec parse(std::string_view text);

  const std::string& text() const { return text_; }
  /// Memory of one layer's policy beyond a few words for each expert.
  size_t bytes(int experts) const { return bytes_ ? bytes_(experts) : 0; }
  PolicyFactory factory() const {
    return [make = make_](int, int experts) { return make(experts); };
  }

 private:
  explicit PolicySpec(std::string text) : text_(std::move(text)) {}
  std::string text_;
  std::function<std::unique_ptr<LayerPolicy>(int experts)> make_;
  size_t (*bytes_)(int experts) = nullptr;
};

/// Their names in one line.
std::string known_policies();

}  // namespace luce::experts
