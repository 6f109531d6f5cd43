#include "model/logits.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace luce::model_test {
namespace {

std::ifstream open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return file;
}

}  // namespace

std::vector<float> read_floats(const std::string& path) {
  std::ifstream file = open(path);
  file.seekg(0, std::ios::end);
  std::vector<float> values(static_cast<size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

std::vector<int32_t> read_tokens(const std::string& path) {
  std::ifstream file = open(path);
  std::vector<int32_t> tokens;
  for (int32_t token = 0; file >> token;) tokens.push_back(token);
  return tokens;
}

double nmse(std::span<const float> values, std::span<const float> reference) {
  if (values.size() != reference.size()) throw std::runtime_error("other numbers of values");
  double difference = 0;
  double scale = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double d = static_cast<double>(values[i]) - reference[i];
    difference += d * d;
    scale += static_cast<double>(reference[i]) * reference[i];
  }
  return difference / scale;
}

int top_token(std::span<const float> logits) {
  return static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

double same_top_share(std::span<const float> values, std::span<const float> reference, size_t width) {
  size_t same = 0;
  const size_t rows = reference.size() / width;
  for (size_t row = 0; row < rows; ++row) {
    same += top_token(values.subspan(row * width, width)) == top_token(reference.subspan(row * width, width)) ? 1 : 0;
  }
  return static_cast<double>(same) / static_cast<double>(rows);
}

double negative_log_likelihood(std::span<const float> logits, int32_t token) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - highest);
  return highest + std::log(sum) - logits[static_cast<size_t>(token)];
}

std::vector<GreedyStep> read_greedy(const std::string& path) {
  std::ifstream file = open(path);
  std::vector<GreedyStep> steps;
  GreedyStep step;
  for (double logit = 0; file >> step.id >> logit >> step.margin;) steps.push_back(step);
  return steps;
}

std::vector<std::vector<int>> read_routing(const std::string& path) {
  std::ifstream file = open(path);
  std::vector<std::vector<int>> rows;
  for (std::string line; std::getline(file, line);) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream numbers(line);
    rows.emplace_back(std::istream_iterator<int>(numbers), std::istream_iterator<int>());
  }
  return rows;
}

}  // namespace luce::model_test
