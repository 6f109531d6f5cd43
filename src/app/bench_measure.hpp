#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/model_assembly.hpp"

namespace luce::app {

struct BenchPlan {
  int prompt_tokens = 512;
  int generated_tokens = 128;
  int depth_tokens = 0;                // positions filled before what is timed
  std::vector<int> concurrency = {1};  // sequences that decode side by side
  int repeat = 5;
};

/// One kind of work, timed `repeat` times.
struct BenchResult {
  std::string work;  // "prompt" or "decode"
  int sequences = 1;
  int tokens = 0;                  // of all sequences in one run
  std::vector<double> per_second;  // tokens, one a run, ascending
  double bytes_per_second = 0;     // weights and experts read, of the median run
  double hit_ratio = 1;            // of experts, over all runs

  double median() const { return per_second[per_second.size() / 2]; }
};

/// Rows and sequences that the plan needs of a model.
StepNeeds bench_needs(const BenchPlan& plan, int prompt_rows);

/// Runs everything, after a warm-up of each kind. The model must be loaded with bench_needs().
std::vector<BenchResult> run_bench(ModelAssembly& assembly, const BenchPlan& plan);

}  // namespace luce::app
