#include "experts/label_usage.hpp"

#include <algorithm>
#include <cmath>

namespace luce::experts {
namespace {

constexpr double kUseHalfLives = 8;    // of a label's counts, in tokens of all labels, until a silent one counts half
constexpr float kLargestGain = 1e12F;  // keeps counts far from the end of a float
}  // namespace

LabelUsage::LabelUsage(size_t cells, size_t most_labels, double half_life_tokens)
    : cells_(cells),
      most_(most_labels),
      half_life_(half_life_tokens),
      growth_(static_cast<float>(std::exp2(1.0 / half_life_tokens))) {
  labels_.reserve(most_);
  for (size_t i = 0; i < most_; ++i) spare_.emplace_back(cells_);
}

std::optional<size_t> LabelUsage::find(std::string_view name) const {
  const auto found = std::find_if(labels_.begin(), labels_.end(), [&](const Label& each) { return each.name == name; });
  if (found == labels_.end()) return std::nullopt;
  return static_cast<size_t>(found - labels_.begin());
}

size_t LabelUsage::open(std::string_view name) {
  if (const auto known = find(name)) return *known;
  Label& label = vacate();
  label.name = name;
  label.tokens = 0;
  label.use = 0;
  label.last = now_;
  label.gain = 1.0F;
  std::fill(label.counts.begin(), label.counts.end(), 0.0F);
  return static_cast<size_t>(&label - labels_.data());
}

/// A new entry, or that of the least used.
LabelUsage::Label& LabelUsage::vacate() {
  if (labels_.size() < most_) {
    labels_.push_back({});
    labels_.back().counts = std::move(spare_.back());
    spare_.pop_back();
    return labels_.back();
  }
  ++forgotten_;
  return *std::min_element(labels_.begin(), labels_.end(), [this](const Label& a, const Label& b) {
    const double use_a = use_now(a), use_b = use_now(b);
    return use_a != use_b ? use_a < use_b : a.last < b.last;
  });
}

double LabelUsage::use_now(const Label& label) const {
  return label.use * std::exp2(-static_cast<double>(now_ - label.last) / (kUseHalfLives * half_life_));
}

void LabelUsage::begin_token(size_t at) {
  Label& label = labels_[at];
  label.use = use_now(label) + 1;
  label.last = ++now_;
  label.tokens = label.tokens / static_cast<double>(growth_) + 1;
  label.gain *= growth_;
  if (label.gain < kLargestGain) return;
  for (float& count : label.counts) count /= label.gain;
  label.gain = 1.0F;
}

void LabelUsage::restore(std::string_view name, std::span<const float> counts, double tokens) {
  Label& label = labels_[open(name)];
  label.gain = 1.0F;
  std::copy(counts.begin(), counts.end(), label.counts.begin());
  label.tokens = label.use = tokens;
}

}  // namespace luce::experts
