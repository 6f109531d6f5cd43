#include "experts/request_usage.hpp"

#include <algorithm>
#include <numeric>

namespace luce::experts {
namespace {

constexpr size_t kRemembered = 4096;    // sequences; more than can run at once
constexpr double kTokensForHalf = 16;   // of a label, until it is believed by half
constexpr double kSessionWeight = 2.0;  // against its tag: the narrower label tells more

size_t count_cells(const std::vector<int>& experts) {
  return static_cast<size_t>(std::accumulate(experts.begin(), experts.end(), 0));
}

}  // namespace

RequestUsage::RequestUsage(std::vector<int> experts, const RequestUsageSettings& settings)
    : bytes_(bytes(count_cells(experts), settings)),
      experts_(std::move(experts)),
      tags_(count_cells(experts_), settings.most_tags, settings.half_life_tokens),
      sessions_(count_cells(experts_), settings.most_sessions, settings.half_life_tokens) {
  size_t cells = 0;
  for (const int experts_here : experts_) {
    first_cell_.push_back(cells);
    cells += static_cast<size_t>(experts_here);
  }
}

bool RequestUsage::is_new(uint64_t sequence) {
  if (std::find(started_.rbegin(), started_.rend(), sequence) != started_.rend()) return false;
  if (started_.size() == kRemembered) started_.erase(started_.begin(), started_.begin() + kRemembered / 2);
  started_.push_back(sequence);
  return true;
}

std::vector<const RowOwner*> RequestUsage::begin_step(std::span<const RowOwner> owners) {
  std::vector<const RowOwner*> starting;
  rows_.clear();
  const std::lock_guard lock(mutex_);
  for (const RowOwner& owner : owners) {
    if (owner.session_id.empty() && owner.task_tag.empty()) {
      if (owner.decode) rows_.resize(rows_.size() + static_cast<size_t>(owner.rows));
      continue;
    }
    if (is_new(owner.sequence)) starting.push_back(&owner);
    if (!owner.decode) continue;
    const Row row{owner.task_tag.empty() ? kNone : tags_.open(owner.task_tag),
                  owner.session_id.empty() ? kNone : sessions_.open(owner.session_id)};
    for (int i = 0; i < owner.rows; ++i) {
      rows_.push_back(row);
      if (row.tag != kNone) tags_.begin_token(row.tag);
      if (row.session != kNone) sessions_.begin_token(row.session);
    }
  }
  return starting;
}

void RequestUsage::count(const LayerUse& wanted) {
  if (rows_.empty() || static_cast<size_t>(wanted.decode_rows) != rows_.size()) return;
  const std::lock_guard lock(mutex_);
  const size_t first = first_cell_[static_cast<size_t>(wanted.layer)];
  size_t decode_row = 0;
  for (int row = 0; row < wanted.rows(); ++row) {
    if (!wanted.is_decode(row)) continue;
    const Row& owner = rows_[decode_row++];
    for (const int32_t expert : wanted.chosen(row)) {
      const size_t cell = first + static_cast<size_t>(expert);
      if (owner.tag != kNone) tags_.count(owner.tag, cell);
      if (owner.session != kNone) sessions_.count(owner.session, cell);
    }
  }
}

Expectation RequestUsage::expect(const RowOwner& owner) {
  Expectation expectation;
  const std::lock_guard lock(mutex_);
  add_shares(tags_, owner.task_tag, 1.0, expectation);
  add_shares(sessions_, owner.session_id, kSessionWeight, expectation);
  for (std::vector<double>& layer : expectation.shares) {
    const double total = std::accumulate(layer.begin(), layer.end(), 0.0);
    if (total > 0)
      for (double& share : layer) share /= total;
  }
  if (expectation.confidence > 0) ++warm_starts_;
  return expectation;
}

void RequestUsage::add_shares(const LabelUsage& usage, std::string_view name, double weight, Expectation& to) const {
  const auto label = name.empty() ? std::nullopt : usage.find(name);
  if (!label || usage.tokens(*label) < 1) return;
  const double tokens = usage.tokens(*label);
  const double confidence = tokens / (tokens + kTokensForHalf);
  to.confidence = std::max(to.confidence, confidence);
  to.shares.resize(experts_.size());
  for (size_t layer = 0; layer < experts_.size(); ++layer) {
    std::vector<double>& shares = to.shares[layer];
    shares.resize(static_cast<size_t>(experts_[layer]));
    for (size_t expert = 0; expert < shares.size(); ++expert)
      shares[expert] += weight * confidence * usage.at(*label, first_cell_[layer] + expert) / tokens;
  }
}

LabelTally RequestUsage::tally() const {
  const std::lock_guard lock(mutex_);
  return {tags_.kept(), sessions_.kept(), tags_.forgotten(), sessions_.forgotten(), warm_starts_};
}

std::vector<LabelCounts> RequestUsage::tags() const {
  const std::lock_guard lock(mutex_);
  std::vector<LabelCounts> all;
  for (size_t tag = 0; tag < tags_.kept(); ++tag) {
    LabelCounts one{tags_.name(tag), tags_.tokens(tag), {}};
    for (size_t layer = 0; layer < experts_.size(); ++layer) {
      std::vector<float>& counts = one.counts.emplace_back(static_cast<size_t>(experts_[layer]));
      for (size_t expert = 0; expert < counts.size(); ++expert)
        counts[expert] = static_cast<float>(tags_.at(tag, first_cell_[layer] + expert));
    }
    all.push_back(std::move(one));
  }
  return all;
}

void RequestUsage::restore_tags(const std::vector<LabelCounts>& tags) {
  const std::lock_guard lock(mutex_);
  for (const LabelCounts& tag : tags) {
    std::vector<float> cells;
    for (const std::vector<float>& layer : tag.counts) cells.insert(cells.end(), layer.begin(), layer.end());
    tags_.restore(tag.name, cells, tag.tokens);
  }
}

}  // namespace luce::experts
