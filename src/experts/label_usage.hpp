#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luce::experts {

/// Fading counts of use by (layer, expert) for a bounded number of labels, all memory taken at once. The label that was
/// used least, by tokens that fade too, gives way to a new one. Not thread-safe: its owner locks around it.
class LabelUsage {
 public:
  /// `cells` are all (layer, expert) pairs. A label's counts halve in so many of its own tokens.
  LabelUsage(size_t cells, size_t most_labels, double half_life_tokens);

  /// The label's place, new or known.
  size_t open(std::string_view name);
  std::optional<size_t> find(std::string_view name) const;

  /// One token of the label; then the cells it used.
  void begin_token(size_t label);
  void count(size_t label, size_t cell) { labels_[label].counts[cell] += labels_[label].gain; }
  /// Puts back what an earlier process counted: counts [cells] and tokens.
  void restore(std::string_view name, std::span<const float> counts, double tokens);

  /// Tokens, fading as the counts do.
  double tokens(size_t label) const { return labels_[label].tokens; }
  const std::string& name(size_t label) const { return labels_[label].name; }
  /// The count of one cell, in tokens.
  double at(size_t label, size_t cell) const {
    return static_cast<double>(labels_[label].counts[cell] / labels_[label].gain);
  }

  size_t kept() const { return labels_.size(); }
  uint64_t forgotten() const { return forgotten_; }
  static size_t bytes(size_t cells, size_t most_labels) { return cells * most_labels * sizeof(float); }

 private:
  struct Label {
    std::string name;
    double tokens = 0;
    double use = 0;  // tokens, fading with everyone's
    int64_t last = 0;
    float gain = 1.0F;  // of new counts; growing it stands for shrinking old ones
    std::vector<float> counts;
  };
  double use_now(const Label& label) const;
  Label& vacate();

  size_t cells_, most_;
  double half_life_;
  float growth_;
  int64_t now_ = 0;  // tokens of all labels
  uint64_t forgotten_ = 0;
  std::vector<Label> labels_;
  std::vector<std::vector<float>> spare_;  // memory of labels to come
};

}  // namespace luce::experts
