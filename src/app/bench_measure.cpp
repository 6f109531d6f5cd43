#include "app/bench_measure.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>

#include "app/progress_bar.hpp"
#include "plan/speed.hpp"

namespace luce::app {
namespace {

using Clock = std::chrono::steady_clock;

/// Drives the model step by step on random tokens, all sequences at the same position.
class Driver {
 public:
  explicit Driver(ModelAssembly& assembly) : assembly_(assembly) {}

  void prompt(int sequences, int tokens) {
    const int most = assembly_.limits().rows - assembly_.limits().sequences;
    for (int slot = 0; slot < sequences; ++slot)
      for (int first = 0; first < tokens; first += most)
        step_prompt(slot, first, std::min(most, tokens - first), first + most >= tokens);
  }

  void decode(int sequences, int first_position, int tokens) {
    for (int i = 0; i < tokens; ++i) {
      model::Batch batch;
      for (int slot = 0; slot < sequences; ++slot) {
        batch.tokens.push_back(random_token());
        batch.spans.push_back({slot, slot, 1, first_position + i, device::RowClass::decode});
        batch.logit_rows.push_back(slot);
      }
      run(batch);
    }
  }

  int64_t steps() const { return steps_; }

 private:
  void step_prompt(int slot, int first, int rows, bool last) {
    model::Batch batch;
    for (int row = 0; row < rows; ++row) batch.tokens.push_back(random_token());
    batch.spans = {{slot, 0, rows, first, device::RowClass::prompt}};
    if (last) batch.logit_rows = {rows - 1};
    run(batch);
  }

  int32_t random_token() {
    return static_cast<int32_t>(random_() % static_cast<uint64_t>(assembly_.model().vocabulary_size()));
  }

  void run(const model::Batch& batch) {
    ++steps_;
    assembly_.model().forward(batch);
  }

  ModelAssembly& assembly_;
  std::mt19937_64 random_{42};
  int64_t steps_ = 0;
};

/// Bytes read so far as far as they are known: dense weights once a step, each routed expert once a step and layer.
class ByteCount {
 public:
  ByteCount(const ModelAssembly& assembly, const Driver& driver) : assembly_(assembly), driver_(driver) {
    for (const plan::LayerShape& layer : assembly.blueprint().shape().layers)
      if (layer.experts > 0) expert_bytes_ = std::max(expert_bytes_, layer.expert_bytes);
  }

  double bytes() const {
    const plan::ModelShape& shape = assembly_.blueprint().shape();
    const auto dense = static_cast<double>(plan::token_traffic(shape, tensor::Format::f16, 0).dense_bytes);
    return dense * static_cast<double>(driver_.steps()) + static_cast<double>(accesses() * expert_bytes());
  }
  experts::AccessCount experts() const {
    return assembly_.experts() == nullptr ? experts::AccessCount{} : assembly_.experts()->counters().all;
  }

 private:
  uint64_t accesses() const { return experts().accesses(); }
  uint64_t expert_bytes() const { return static_cast<uint64_t>(expert_bytes_); }

  const ModelAssembly& assembly_;
  const Driver& driver_;
  int64_t expert_bytes_ = 0;
};

struct Work {
  std::string name;
  int sequences = 1;
  int tokens = 0;
  std::function<void()> prepare;
  std::function<void()> run;
};

BenchResult measure(const Work& work, int repeat, const ByteCount& count) {
  BenchResult result{work.name, work.sequences, work.tokens, {}, 0, 1};
  work.prepare();
  work.run();
  const experts::AccessCount experts_before = count.experts();
  std::vector<std::pair<double, double>> runs;  // tokens per second, bytes per second
  for (int i = 0; i < repeat; ++i) {
    work.prepare();
    const double bytes_before = count.bytes();
    const auto begin = Clock::now();
    work.run();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    runs.emplace_back(work.tokens / seconds, (count.bytes() - bytes_before) / seconds);
  }
  std::sort(runs.begin(), runs.end());
  for (const auto& [tokens, bytes] : runs) result.per_second.push_back(tokens);
  result.bytes_per_second = runs[runs.size() / 2].second;
  const experts::AccessCount experts_after = count.experts();
  const uint64_t accesses = experts_after.accesses() - experts_before.accesses();
  if (accesses > 0)
    result.hit_ratio = static_cast<double>(experts_after.hits - experts_before.hits) / static_cast<double>(accesses);
  return result;
}

}  // namespace

StepNeeds bench_needs(const BenchPlan& plan, int prompt_rows) {
  const int sequences = *std::max_element(plan.concurrency.begin(), plan.concurrency.end());
  const int longest = plan.depth_tokens + std::max(plan.prompt_tokens, plan.generated_tokens) + 1;
  return {longest, sequences, std::max(64, std::min(prompt_rows, longest)) + sequences, sequences};
}

std::vector<BenchResult> run_bench(ModelAssembly& assembly, const BenchPlan& plan) {
  Driver driver(assembly);
  const ByteCount count(assembly, driver);
  std::vector<Work> works;
  if (plan.prompt_tokens > 0)
    works.push_back({"prompt", 1, plan.prompt_tokens, [] {}, [&] { driver.prompt(1, plan.prompt_tokens); }});
  for (const int sequences : plan.concurrency) {
    if (plan.generated_tokens == 0) break;
    const int depth = std::max(1, plan.depth_tokens);
    works.push_back({"decode", sequences, plan.generated_tokens * sequences,
                     [&driver, sequences, depth] { driver.prompt(sequences, depth); },
                     [&driver, &plan, sequences, depth] { driver.decode(sequences, depth, plan.generated_tokens); }});
  }
  std::vector<BenchResult> results;
  ProgressBar bar("measuring");
  for (const Work& work : works) {
    bar.show(static_cast<int64_t>(results.size()), static_cast<int64_t>(works.size()));
    results.push_back(measure(work, plan.repeat, count));
  }
  return results;
}

}  // namespace luce::app
