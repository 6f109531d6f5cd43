#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experts/label_usage.hpp"
#include "experts/routing_digest.hpp"

namespace luce::experts {

/// Whose rows a step holds; in row order.
struct RowOwner {
  uint64_t sequence = 0;  // a number that no other request has
  int rows = 0;
  bool decode = false;
  std::string_view session_id, task_tag;  // empty: none
};

struct RequestUsageSettings {
  size_t most_tags = 32;
  size_t most_sessions = 32;
  double half_life_tokens = 2000;  // of one label's own
};

/// What is known of a request that starts: how its experts share its uses, and how sure that is.
struct Expectation {
  std::vector<std::vector<double>> shares;  // [layers][experts], each layer's sum to 1
  double confidence = 0;                    // 0 to 1; 0 leaves the shares empty
};

/// How many labels are known, and how many had to give way.
struct LabelTally {
  size_t tags = 0, sessions = 0;
  uint64_t tags_forgotten = 0, sessions_forgotten = 0;
  uint64_t warm_starts = 0;  // requests whose session or tag was known
};

/// One label's counts as they are kept on disk.
struct LabelCounts {
  std::string name;
  double tokens = 0;
  std::vector<std::vector<float>> counts;  // [layers][experts], in tokens
  bool operator==(const LabelCounts&) const = default;
};

/// Usage by session and by task tag, of the unbiased router's choices in decoded tokens, counted while requests run.
/// Steps come from one thread; tally() and tags() may be called from others.
class RequestUsage {
 public:
  /// `experts` is [layers of the model].
  RequestUsage(std::vector<int> experts, const RequestUsageSettings& settings);

  /// The step's rows belong to these. Returns those of them that had no row in an earlier step.
  std::vector<const RowOwner*> begin_step(std::span<const RowOwner> owners);
  void count(const LayerUse& wanted);
  void end_step() { rows_.clear(); }

  Expectation expect(const RowOwner& owner);

  LabelTally tally() const;
  std::vector<LabelCounts> tags() const;
  void restore_tags(const std::vector<LabelCounts>& tags);

  size_t bytes() const { return bytes_; }
  static size_t bytes(size_t cells, const RequestUsageSettings& settings) {
    return LabelUsage::bytes(cells, settings.most_tags) + LabelUsage::bytes(cells, settings.most_sessions);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct Row {
    size_t tag = kNone, session = kNone;
  };

  bool is_new(uint64_t sequence);
  void add_shares(const LabelUsage& usage, std::string_view name, double weight, Expectation& to) const;

  size_t bytes_;
  std::vector<int> experts_;
  std::vector<size_t> first_cell_;  // [layers]
  std::vector<uint64_t> started_;   // sequences, the latest last
  std::vector<Row> rows_;           // [decode rows] of the step that runs

  mutable std::mutex mutex_;  // guards what follows
  LabelUsage tags_, sessions_;
  uint64_t warm_starts_ = 0;
};

}  // namespace luce::experts
