#include "sampling/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace luce::sampling {

namespace {

constexpr double kNegligibleLogit = -46.0;  // e^-46 = 1e-20 of the largest probability
constexpr size_t kFirstSelection = 64;

bool more_likely(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

double scale_of(const SamplingSettings& settings) { return std::max(1.0, static_cast<double>(settings.temperature)); }

// All tokens that min_p and a double's precision leave, in order of ids.
std::vector<Candidate> gather(std::span<const float> logits, const SamplingSettings& settings) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double lowest = kNegligibleLogit * scale_of(settings);
  if (settings.min_p > 0 && settings.top_k <= 0 && settings.top_p >= 1)
    lowest = std::max(lowest, std::log(std::min(1.0, static_cast<double>(settings.min_p))));
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < logits.size(); ++i)
    if (static_cast<double>(logits[i]) - largest >= lowest)
      candidates.push_back({.token = static_cast<int32_t>(i), .logit = logits[i], .probability = 0});
  return candidates;
}

// Fills in probabilities at the given temperature; candidates need no order.
void set_probabilities(std::vector<Candidate>& candidates, double temperature) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) largest = std::max(largest, static_cast<double>(candidate.logit));
  double sum = 0;
  for (Candidate& candidate : candidates) {
    candidate.probability = std::exp((static_cast<double>(candidate.logit) - largest) / temperature);
    sum += candidate.probability;
  }
  for (Candidate& candidate : candidates) candidate.probability /= sum;
}

void sort_first(std::vector<Candidate>& candidates, size_t from, size_t to) {
  const auto at = [&](size_t i) { return candidates.begin() + static_cast<std::ptrdiff_t>(i); };
  if (to < candidates.size()) std::nth_element(at(from), at(to), candidates.end(), more_likely);
  std::sort(at(from), at(to), more_likely);
}

void keep_top_k(std::vector<Candidate>& candidates, int top_k) {
  const size_t kept = std::min(candidates.size(), static_cast<size_t>(top_k));
  sort_first(candidates, 0, kept);
  candidates.resize(kept);
}

// Sorts no more than the tokens that it needs to look at.
void keep_top_p(std::vector<Candidate>& candidates, double top_p) {
  set_probabilities(candidates, 1.0);
  double reached = 0;
  size_t sorted = 0;
  for (size_t kept = 0; kept < candidates.size(); ++kept) {
    if (kept == sorted) {
      sorted = std::min(candidates.size(), std::max(kFirstSelection, 4 * sorted));
      sort_first(candidates, kept, sorted);
    }
    reached += candidates[kept].probability;
    if (reached < top_p) continue;
    candidates.resize(kept + 1);
    return;
  }
}

void keep_min_p(std::vector<Candidate>& candidates, double min_p) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) largest = std::max(largest, static_cast<double>(candidate.logit));
  const double lowest = std::log(std::min(1.0, min_p));
  std::erase_if(candidates, [&](const Candidate& c) { return static_cast<double>(c.logit) - largest < lowest; });
}

}  // namespace

std::vector<Candidate> distribution(std::span<const float> logits, const SamplingSettings& settings) {
  if (!(settings.temperature > 0)) {
    const auto largest = std::max_element(logits.begin(), logits.end());
    return {{.token = static_cast<int32_t>(largest - logits.begin()), .logit = *largest, .probability = 1}};
  }
  std::vector<Candidate> candidates = gather(logits, settings);
  if (settings.top_k > 0) keep_top_k(candidates, settings.top_k);
  if (settings.top_p < 1) keep_top_p(candidates, settings.top_p);
  if (settings.min_p > 0) keep_min_p(candidates, settings.min_p);
  set_probabilities(candidates, settings.temperature);
  return candidates;
}

}  // namespace luce::sampling
