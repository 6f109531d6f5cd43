// Where experts lie never changes a bit of the output.
#include <gtest/gtest.h>

#include "model/loaded_model.hpp"
#include "model/logits.hpp"
#include "support/golden_path.hpp"

namespace luce::model_test {
namespace {

constexpr int kTokens = 200;
constexpr double kOneSlotPerLayer = 0.0;

struct Trajectory {
  std::vector<int32_t> tokens;
  std::vector<float> logits;  // of the last steps, all of a step's sequences
  bool operator==(const Trajectory&) const = default;
};

/// Greedy continuation of one sequence; the logits of every step are kept.
Trajectory single_sequence(LoadedModel& loaded) {
  Trajectory run;
  const std::vector<int32_t> prompt = random_tokens(60, loaded.model().vocabulary_size(), 7);
  std::vector<float> logits = loaded.logits(0, prompt, 0, 32);
  int32_t next = top_token(std::span(logits).last(loaded.vocabulary()));
  for (int position = 60; position < 60 + kTokens; ++position) {
    const std::span<const float> step = loaded.model().forward(single(0, {&next, 1}, position));
    run.logits.insert(run.logits.end(), step.begin(), step.end());
    next = top_token(step);
    run.tokens.push_back(next);
  }
  return run;
}

/// Three sequences in one step: one decodes, one reads a prompt in chunks and then decodes, one joins late.
Trajectory three_sequences(LoadedModel& loaded) {
  const int vocabulary = loaded.model().vocabulary_size();
  const std::vector<std::vector<int32_t>> prompts = {
      random_tokens(10, vocabulary, 11), random_tokens(90, vocabulary, 12), random_tokens(40, vocabulary, 13)};
  const std::vector<int> first_step = {0, 3, 20};
  std::vector<int> position(3, 0);
  std::vector<int32_t> next(3, 0);
  Trajectory run;
  for (int step = 0; step < kTokens / 3; ++step) {
    model::Batch batch;
    std::vector<int> slots;
    for (int slot = 0; slot < 3; ++slot) {
      const auto at = static_cast<size_t>(slot);
      if (step < first_step[at]) continue;
      const auto left = std::span(prompts[at]).subspan(std::min(prompts[at].size(), static_cast<size_t>(position[at])));
      const auto rows =
          left.empty() ? std::span<const int32_t>(&next[at], 1) : left.first(std::min<size_t>(left.size(), 32));
      append(batch, slot, rows, position[at]);
      position[at] += static_cast<int>(rows.size());
      slots.push_back(slot);
    }
    const std::span<const float> logits = loaded.model().forward(batch);
    run.logits.insert(run.logits.end(), logits.begin(), logits.end());
    for (size_t i = 0; i < slots.size(); ++i) {
      next[static_cast<size_t>(slots[i])] = top_token(logits.subspan(i * loaded.vocabulary(), loaded.vocabulary()));
      run.tokens.push_back(next[static_cast<size_t>(slots[i])]);
    }
  }
  return run;
}

class Residency : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<LoadedModel> load(double share) const {
    const std::string name = GetParam();
    const std::string path = name == "demo" ? support::source_path("models/demo-q4_k_m.gguf")
                                            : support::golden_path("models/" + name + "-tiny-q4_k_m.gguf");
    return std::make_unique<LoadedModel>(path, ModelSetup{.expert_share = share});
  }
};

TEST_P(Residency, NeverChangesABit) {
  const auto all = load(1.0);
  const Trajectory single_reference = single_sequence(*all);
  const Trajectory three_reference = three_sequences(*all);
  for (const double share : {1.0, 0.6, 0.3, 0.1, kOneSlotPerLayer}) {
    SCOPED_TRACE("share resident " + std::to_string(share));
    const auto loaded = load(share);
    EXPECT_EQ(single_sequence(*loaded), single_reference) << "cold";
    EXPECT_EQ(single_sequence(*loaded), single_reference) << "warm";
    EXPECT_EQ(three_sequences(*loaded), three_reference) << "warm, three sequences";
    const auto cold = load(share);
    EXPECT_EQ(three_sequences(*cold), three_reference) << "cold, three sequences";
  }
}

TEST_P(Residency, FewerSlotsMeanMoreMisses) {
  uint64_t misses_before = 0;
  for (const double share : {1.0, 0.3, kOneSlotPerLayer}) {
    const auto loaded = load(share);
    single_sequence(*loaded);
    const uint64_t misses = loaded->experts()->counters().all.misses;
    EXPECT_GT(misses, misses_before);
    misses_before = misses;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Residency, testing::Values("demo", "qwen3moe", "qwen35moe"));

}  // namespace
}  // namespace luce::model_test
