#include "experts/usage.hpp"

#include <algorithm>

namespace luce::experts {
namespace {

/// One writer, so a plain addition is enough; readers see whole values.
void add(std::atomic<uint64_t>& counter, uint64_t amount) {
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

constexpr double kMillion = 1e6;

/// A mixing weight need not be a sound number.
uint64_t millionths(float weight) {
  return weight > 0.0F && weight < 1e9F ? static_cast<uint64_t>(static_cast<double>(weight) * kMillion + 0.5) : 0;
}

}  // namespace

Usage::Usage(std::vector<int> experts_per_layer, int64_t window_tokens)
    : experts_(std::move(experts_per_layer)), bucket_tokens_(std::max<int64_t>(1, window_tokens / kBuckets)) {
  size_t cells = 0;
  for (const int experts : experts_) {
    first_cell_.push_back(cells);
    cells += static_cast<size_t>(experts);
  }
  total_ = std::vector<Cell>(cells);
  window_ = std::vector<Cell>(cells);
  buckets_.resize(kBuckets * cells);
}

void Usage::count(const LayerUse& use) {
  const size_t base = bucket_ * total_.size();
  for (const UsedExpert& used : use.experts) {
    const size_t at = cell(use.layer, used.expert);
    const auto prompt = static_cast<uint32_t>(used.prompt_rows);
    const auto decode = static_cast<uint32_t>(used.decode_rows);
    const uint64_t weight = millionths(used.prompt_weight + used.decode_weight);
    for (Cell* counted : {&total_[at], &window_[at]}) {
      add(counted->prompt, prompt);
      add(counted->decode, decode);
      add(counted->weight_millionths, weight);
    }
    buckets_[base + at].prompt += prompt;
    buckets_[base + at].decode += decode;
    buckets_[base + at].weight_millionths += weight;
  }
}

void Usage::end_step(int64_t tokens) {
  add(tokens_, static_cast<uint64_t>(tokens));
  bucket_filled_ += tokens;
  if (bucket_filled_ < bucket_tokens_) return;
  for (int64_t full = std::min<int64_t>(bucket_filled_ / bucket_tokens_, kBuckets); full > 0; --full) next_bucket();
  bucket_filled_ %= bucket_tokens_;
}

/// The oldest bucket leaves the window and becomes the one that is filled.
void Usage::next_bucket() {
  bucket_ = (bucket_ + 1) % kBuckets;
  const size_t base = bucket_ * total_.size();
  for (size_t at = 0; at < total_.size(); ++at) {
    BucketCell& old = buckets_[base + at];
    add(window_[at].prompt, 0 - uint64_t{old.prompt});
    add(window_[at].decode, 0 - uint64_t{old.decode});
    add(window_[at].weight_millionths, 0 - old.weight_millionths);
    old = {};
  }
}

UsageCount Usage::read(const std::vector<Cell>& cells, int layer, int32_t expert) const {
  const Cell& counted = cells[cell(layer, expert)];
  return {counted.prompt.load(std::memory_order_relaxed), counted.decode.load(std::memory_order_relaxed),
          static_cast<double>(counted.weight_millionths.load(std::memory_order_relaxed)) / kMillion};
}

}  // namespace luce::experts
