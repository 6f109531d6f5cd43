#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "experts/counters.hpp"
#include "experts/expert_source.hpp"
#include "experts/lease.hpp"
#include "experts/policy.hpp"
#include "experts/use_log.hpp"

namespace luce::experts {

/// Which expert is in which slot, for all layers; decides what is evicted, moves no bytes. Not thread-safe: its owner
/// locks around it. Slots are numbered as in SlotPool.
class ExpertCache {
 public:
  static constexpr int kNoSlot = -1;
  static constexpr int kNoLayer = -1;

  struct Shape {
    std::vector<int> experts;  // [layers]
    std::vector<int> slots;    // [layers], at least 1 where there are experts
  };
  /// `counters` has the same layers and outlives this.
  ExpertCache(Shape shape, const PolicyFactory& policy, CounterTable& counters);

  /// Tells the layer's policy of earlier use: counts [experts], of which only the shares matter. They weigh as much as
  /// a few tokens of traffic and fade like it.
  void seed(int layer, std::span<const double> counts);

  /// The policy's uses of this layer [experts] as they count now; empty if it has none.
  std::vector<double> uses(int layer) { return layers_[static_cast<size_t>(layer)].log.up_to_date().uses(); }
  /// Tells the layer's policy of traffic that begins.
  void expect(int layer, const ExpectedTraffic& traffic) {
    layers_[static_cast<size_t>(layer)].log.up_to_date().expect(traffic);
  }

  /// The next step of this layer: records the use, counts hits and misses, and protects the step's experts from being
  /// victims until the layer's next step.
  void begin_step(const LayerUse& use) { begin_step(use, use); }
  /// The same where the router wanted other experts than are used: the policy is told of those.
  void begin_step(const LayerUse& use, const LayerUse& wanted);

  /// The slot that holds or awaits the expert, or kNoSlot.
  int find(int layer, int32_t expert) const {
    return layers_[static_cast<size_t>(layer)].slot_of[static_cast<size_t>(expert)];
  }
  SlotState state(int slot) const { return slots_[static_cast<size_t>(slot)].state; }
  Lease lease(int slot);

  /// Gives an absent expert a slot in state loading: a free one, else that of a victim. Nothing if every slot is in use
  /// by this step, leased or loading, or if the policy refuses. An expert that only prompt rows use may, if the policy
  /// separates prompts, take the slot of another such that has had its turn (is not leased) and is worth less.
  std::optional<int> admit(int layer, int32_t expert);
  /// Whether the policy's gate may refuse a miss; at first it may.
  void set_strict(bool strict) { strict_ = strict; }
  /// The same without evicting.
  std::optional<int> admit_free(int layer, int32_t expert);
  /// The same for an expert that no step has asked for: it evicts only what is worth less.
  std::optional<int> admit_ahead(int layer, int32_t expert);
  void loaded(int slot);
  void load_failed(int slot);

  /// Gives a slot of one layer to another: a free one, else that of its least valuable resident without a lease and not
  /// of its current step. False if there is none or it is the layer's last. Both layers must be of one size class.
  bool move_slot(int from, int to);

  /// Takes a slot from a layer, as move_slot does; it then belongs to no layer until give_slot().
  std::optional<int> take_slot(int layer);
  void give_slot(int layer, int slot);
  /// Whether a slot is free or holds an expert that nobody has leased.
  bool can_relocate(int slot) const;
  /// Moves what `from` holds, and its place in its layer, to `to`, which belongs to no layer; afterwards `from` does
  /// not. The caller moves the bytes.
  void relocate(int from, int to);
  /// The layer that a slot belongs to.
  int layer_of(int slot) const { return slots_[static_cast<size_t>(slot)].layer; }

  /// An eighth of so many slots, at least one: the scale on which near misses are counted.
  static int extra_slots(int slots) { return slots < 16 ? 1 : slots / 8; }
  int slots(int layer) const { return static_cast<int>(layers_[static_cast<size_t>(layer)].slots.size()); }
  int free_slots(int layer) const { return static_cast<int>(layers_[static_cast<size_t>(layer)].free.size()); }
  /// Experts whose bytes are in a slot.
  int resident() const { return resident_; }

 private:
  friend class Lease;
  struct Slot {
    int layer = kNoLayer;
    int32_t expert = -1;
    int leases = 0;
    SlotState state = SlotState::free;
    bool reused = false;  // hit since the step it was fetched for
  };
  struct Layer {
    std::vector<int> slots;
    int64_t step = 0;
    std::vector<int> slot_of;        // [experts]
    std::vector<int64_t> last_step;  // [experts], in which it was used; 0 is never
    std::vector<int64_t> last_decode_step;
    int64_t evictions = 0;
    std::vector<int64_t> evicted;  // [experts], which eviction it was; 0 is none
    std::vector<int> free;         // lowest number last
    UseLog log;                    // and the policy
  };

  static bool lately_evicted(const Layer& layer, int32_t expert);
  void count_access(const LayerUse& use, const UsedExpert& used);
  void find_candidates(const Layer& layer, const std::vector<int64_t>& last_uses);
  int occupy(int layer, int32_t expert);
  void evict(int slot);
  void set_free(int slot);
  void unlease(int slot);

  std::vector<Layer> layers_;
  std::vector<Slot> slots_;
  std::vector<Candidate> candidates_;  // scratch of admit
  CounterTable& counters_;
  int resident_ = 0;
  bool strict_ = true;
};

}  // namespace luce::experts
