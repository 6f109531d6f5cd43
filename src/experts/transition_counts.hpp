#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace luce::experts {

/// How often one expert of a layer is chosen shortly after another in the same sequence, against how often it is
/// chosen at all. Older rows count less.
class TransitionCounts {
 public:
  struct Settings {
    double half_life_rows = 500;
    double prior = 4;     // rows of no knowledge, in which everything follows as often as ever
    double floor = 0.02;  // added to every expert's share of rows, so that rare ones do not jump
  };
  TransitionCounts(int experts, const Settings& settings);

  /// One row chose these experts; `weight` of an expert that came before says how near it was.
  void begin_row(std::span<const int32_t> chosen);
  void follow(int32_t before, double weight, std::span<const int32_t> chosen);

  /// How much likelier than ever each expert is after the weighted context: 1 is as ever. `lift` is [experts].
  struct Context {
    int32_t expert = 0;
    float weight = 0.0F;
  };
  void lift(std::span<const Context> context, std::span<float> lift) const;

  size_t bytes() const { return (pairs_.size() + before_.size() + chosen_.size()) * sizeof(float); }
  static size_t bytes(int experts);

 private:
  void rescale();

  Settings settings_;
  float growth_;  // of gain_ in a row; growing new amounts stands for shrinking old ones
  float gain_ = 1.0F;
  float rows_ = 0.0F;          // all amounts are in units of gain_
  std::vector<float> pairs_;   // [experts before, experts]
  std::vector<float> before_;  // [experts], sum of weights it came before with
  std::vector<float> chosen_;  // [experts], rows that chose it
};

}  // namespace luce::experts
