#include "sampling/distribution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace luce::sampling {

namespace {

constexpr int kNegligible = 46;  // logits this far below the largest have 1e-20 of its probability
constexpr size_t kFirstSelection = 64;

bool more_likely(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

double weight(double logit, double largest) { return std::exp(static_cast<float>(logit - largest)); }

float largest_of(std::span<const float> logits) { return *std::max_element(logits.begin(), logits.end()); }

// The most likely ones of [from, end) in order, so that [from, to) is final.
void sort_first(std::vector<Candidate>& candidates, size_t from, size_t to) {
  const auto at = [&](size_t i) { return candidates.begin() + static_cast<std::ptrdiff_t>(i); };
  if (to < candidates.size()) std::nth_element(at(from), at(to), candidates.end(), more_likely);
  std::sort(at(from), at(to), more_likely);
}

}  // namespace

std::span<const Candidate> Distribution::compute(std::span<const float> logits, const SamplingSettings& settings) {
  candidates_.clear();
  if (!(settings.temperature > 0)) {
    const auto largest = std::max_element(logits.begin(), logits.end());
    candidates_.push_back(
        {.token = static_cast<int32_t>(largest - logits.begin()), .logit = *largest, .probability = 1});
    return candidates_;
  }
  gather(logits, settings);
  if (candidates_.empty()) return candidates_;
  if (settings.top_p < 1) keep_top_p(settings.top_p);
  if (settings.min_p > 0) keep_min_p(settings.min_p);
  set_probabilities(settings.temperature);
  return candidates_;
}

void Distribution::gather(std::span<const float> logits, const SamplingSettings& settings) {
  if (settings.top_k > 0) return gather_top_k(logits, static_cast<size_t>(settings.top_k));
  if (settings.top_p < 1) return gather_mass(logits, settings.top_p);
  const double negligible = kNegligible * std::max(1.0, static_cast<double>(settings.temperature));
  const double min_p = std::min(1.0, static_cast<double>(settings.min_p));
  gather_above(logits, largest_of(logits) + std::max(-negligible, min_p > 0 ? std::log(min_p) : -negligible));
}

// A heap of the best so far, the worst of them on top.
void Distribution::gather_top_k(std::span<const float> logits, size_t top_k) {
  top_k = std::min(top_k, logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    const Candidate next{.token = static_cast<int32_t>(i), .logit = logits[i], .probability = 0};
    if (candidates_.size() == top_k) {
      if (!(next.logit > candidates_.front().logit)) continue;  // an equal one has a larger id
      std::pop_heap(candidates_.begin(), candidates_.end(), more_likely);
      candidates_.pop_back();
    }
    if (next.logit == -std::numeric_limits<float>::infinity()) continue;
    candidates_.push_back(next);
    std::push_heap(candidates_.begin(), candidates_.end(), more_likely);
  }
  std::sort(candidates_.begin(), candidates_.end(), more_likely);
  mass_ = 0;
  for (const Candidate& candidate : candidates_) mass_ += weight(candidate.logit, candidates_.front().logit);
}

// No more tokens than can be needed to reach the share: those down to the unit of logits where the mass suffices.
void Distribution::gather_mass(std::span<const float> logits, double top_p) {
  const double largest = largest_of(logits);
  std::array<double, kNegligible + 1> mass_by_unit{};
  for (const float logit : logits) {
    const double below = largest - logit;
    if (below < kNegligible) mass_by_unit[static_cast<size_t>(below)] += weight(logit, largest);
  }
  mass_ = 0;
  for (const double mass : mass_by_unit) mass_ += mass;
  double reached = 0;
  int unit = 0;
  while (unit < kNegligible && reached < top_p * mass_) reached += mass_by_unit[unit++];
  gather_above(logits, largest - (unit + 1));  // one more, since sums are rounded
}

void Distribution::gather_above(std::span<const float> logits, double lowest) {
  const auto bound = static_cast<float>(lowest);
  for (size_t i = 0; i < logits.size(); ++i)
    if (logits[i] >= bound && logits[i] > -std::numeric_limits<float>::infinity())
      candidates_.push_back({.token = static_cast<int32_t>(i), .logit = logits[i], .probability = 0});
}

double Distribution::largest() const {
  double largest = -std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates_) largest = std::max(largest, static_cast<double>(candidate.logit));
  return largest;
}

// Sorts no more than the tokens that it needs to look at.
void Distribution::keep_top_p(double top_p) {
  const double best = largest();
  double reached = 0;
  size_t sorted = 0;
  for (size_t kept = 0; kept < candidates_.size(); ++kept) {
    if (kept == sorted) {
      sorted = std::min(candidates_.size(), std::max(kFirstSelection, 4 * sorted));
      sort_first(candidates_, kept, sorted);
    }
    reached += weight(candidates_[kept].logit, best) / mass_;
    if (reached < top_p) continue;
    candidates_.resize(kept + 1);
    return;
  }
}

void Distribution::keep_min_p(double min_p) {
  const double lowest = largest() + std::log(std::min(1.0, min_p));
  std::erase_if(candidates_, [&](const Candidate& candidate) { return candidate.logit < lowest; });
}

void Distribution::set_probabilities(double temperature) {
  const double best = largest();
  double sum = 0;
  for (Candidate& candidate : candidates_) {
    candidate.probability = std::exp(static_cast<float>((candidate.logit - best) / temperature));
    sum += candidate.probability;
  }
  for (Candidate& candidate : candidates_) candidate.probability /= sum;
}

}  // namespace luce::sampling
