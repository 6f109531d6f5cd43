#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace luce::model_test {

std::vector<float> read_floats(const std::string& path);
std::vector<int32_t> read_tokens(const std::string& path);

/// Sum of squared differences over the sum of squared reference values.
double nmse(std::span<const float> values, std::span<const float> reference);

int top_token(std::span<const float> logits);

/// Share of rows of `width` whose largest value stands at the same place in both.
double same_top_share(std::span<const float> values, std::span<const float> reference, size_t width);

/// Minus the log-probability of `token` under these logits.
double negative_log_likelihood(std::span<const float> logits, int32_t token);

struct GreedyStep {
  int32_t id = 0;
  double margin = 0;  // logit distance to the second
};
std::vector<GreedyStep> read_greedy(const std::string& path);

/// Rows of numbers separated by commas.
std::vector<std::vector<int>> read_routing(const std::string& path);

}  // namespace luce::model_test
