#include "sampling/logprobs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace luce::sampling {

namespace {

constexpr double kLowest = -9999.0;  // as in the OpenAI API, since JSON knows no infinity

double log_sum_exp(std::span<const float> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum);
}

// Falling, the smaller id first where logits are equal.
std::vector<int32_t> most_likely(std::span<const float> logits, size_t count) {
  std::vector<int32_t> ids;
  const auto better = [&](int32_t a, int32_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; };
  for (size_t i = 0; i < logits.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    if (ids.size() == count && !better(id, ids.back())) continue;
    if (ids.size() == count) ids.pop_back();
    ids.insert(std::upper_bound(ids.begin(), ids.end(), id, better), id);
  }
  return ids;
}

}  // namespace

Sample with_logprobs(std::span<const float> logits, int32_t token, int top_logprobs) {
  Sample sample{.token = token, .logprob = 0, .top = {}};
  const double total = log_sum_exp(logits);
  const auto logprob = [&](int32_t id) { return static_cast<float>(std::clamp(logits[id] - total, kLowest, 0.0)); };
  sample.logprob = logprob(token);
  const size_t count = std::min(logits.size(), static_cast<size_t>(std::max(0, top_logprobs)));
  if (count == 0) return sample;
  for (const int32_t id : most_likely(logits, count)) sample.top.push_back({.token = id, .logprob = logprob(id)});
  return sample;
}

}  // namespace luce::sampling
