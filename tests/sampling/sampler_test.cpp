#include "sampling/sampler.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace luce::sampling {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

int32_t greedy_pick(const std::vector<float>& logits, SamplingSettings settings, const std::vector<int32_t>& prompt,
                    const std::vector<int32_t>& generated) {
  settings.temperature = 0;
  Sampler sampler(settings, prompt);
  for (const int32_t token : generated) sampler.accept(token);
  return std::get<Sample>(sampler.sample(logits, nullptr)).token;
}

std::vector<float> penalised(std::vector<float> logits, const SamplingSettings& settings,
                             const std::vector<int32_t>& prompt, const std::vector<int32_t>& generated) {
  TokenHistory history(prompt);
  for (const int32_t token : generated) history.accept(token);
  history.penalise(settings, logits);
  return logits;
}

TEST(Sampler, PenaltiesActAtTemperatureZero) {
  const std::vector<float> logits = {2.0f, 1.9f, 0.5f, -1.0f};
  EXPECT_EQ(greedy_pick(logits, {}, {1}, {0, 0, 0}), 0);
  EXPECT_EQ(greedy_pick(logits, {.presence_penalty = 1.0f}, {1}, {0, 0, 0}), 1);
  EXPECT_EQ(greedy_pick(logits, {.frequency_penalty = 0.5f}, {1}, {0, 0, 0}), 1);
  EXPECT_EQ(penalised(logits, {.frequency_penalty = 0.5f}, {1}, {0, 0, 0})[0], 0.5f);
  EXPECT_EQ(greedy_pick(logits, {.repeat_penalty = 1.5f}, {1}, {0, 0, 0}), 0) << "the prompt counts";
  EXPECT_EQ(greedy_pick(logits, {.repeat_penalty = 1.5f}, {}, {0, 0, 0}), 1);
}

TEST(Sampler, RepeatPenaltyMakesNegativeLogitsLessLikely) {
  const std::vector<float> logits = {-1.0f, -1.2f, -3.0f};
  EXPECT_EQ(penalised(logits, {.repeat_penalty = 2.0f}, {}, {0}), (std::vector<float>{-2.0f, -1.2f, -3.0f}));
  EXPECT_EQ(greedy_pick(logits, {.repeat_penalty = 2.0f}, {}, {0}), 1);
  EXPECT_EQ(penalised(logits, {.repeat_penalty = 0.5f}, {}, {0}), (std::vector<float>{-0.5f, -1.2f, -3.0f}));
  EXPECT_EQ(penalised(logits, {.repeat_penalty = 1.0f}, {}, {0}), logits);
}

TEST(Sampler, RepeatPenaltyLooksBackSoFar) {
  const std::vector<float> logits = {4.0f, 4.0f, 4.0f};
  const SamplingSettings last_one{.repeat_penalty = 2.0f, .repeat_last_tokens = 1};
  EXPECT_EQ(penalised(logits, last_one, {0, 1}, {}), (std::vector<float>{4.0f, 2.0f, 4.0f}));
  const SamplingSettings all{.repeat_penalty = 2.0f, .repeat_last_tokens = -1};
  EXPECT_EQ(penalised(logits, all, {0, 0}, {1, 1}), (std::vector<float>{2.0f, 2.0f, 4.0f}));
  const SamplingSettings none{.repeat_penalty = 2.0f, .repeat_last_tokens = 0};
  EXPECT_EQ(penalised(logits, none, {0}, {1}), logits);
}

TEST(Sampler, PresenceAndFrequencyCountGeneratedTokensOnly) {
  const std::vector<float> logits = {1.0f, 0.9f, 0.0f};
  for (const SamplingSettings& settings :
       {SamplingSettings{.presence_penalty = 1.5f}, SamplingSettings{.frequency_penalty = 1.5f}}) {
    EXPECT_EQ(penalised(logits, settings, {0, 0, 0, 0}, {}), logits);
    EXPECT_EQ(greedy_pick(logits, settings, {0, 0, 0, 0}, {}), 0);
    EXPECT_EQ(penalised(logits, settings, {0, 0, 0, 0}, {0})[0], -0.5f);
    EXPECT_EQ(greedy_pick(logits, settings, {0, 0, 0, 0}, {0}), 1);
  }
}

TEST(Sampler, UnsoundLogitsAreAnErrorValue) {
  const std::vector<float> all_nan(2048, kNan);
  std::vector<float> one_nan(2048, 1.0f), infinite(2048, 1.0f);
  one_nan[77] = kNan;
  infinite[5] = kInf;
  for (const SamplingSettings& settings :
       {SamplingSettings{.temperature = 0}, SamplingSettings{.temperature = 0.8f, .top_k = 40, .top_p = 0.9f},
        SamplingSettings{.temperature = 0.8f, .min_p = 0.05f, .presence_penalty = 1.0f}})
    for (const auto& logits : {all_nan, one_nan, infinite, std::vector<float>(2048, -kInf)}) {
      Sampler sampler(settings, {});
      EXPECT_EQ(std::get<SampleError>(sampler.sample(logits, nullptr)), SampleError::not_finite);
    }
}

TEST(Sampler, LogitBiasForcesAndBans) {
  const std::vector<float> logits = {5.0f, 1.0f, 0.0f};
  EXPECT_EQ(greedy_pick(logits, {.logit_bias = {{2, 100.0f}}}, {}, {}), 2);
  EXPECT_EQ(greedy_pick(logits, {.logit_bias = {{0, -100.0f}}}, {}, {}), 1);
  EXPECT_EQ(greedy_pick(logits, {.logit_bias = {{-1, 100.0f}, {3, 100.0f}}}, {}, {}), 0) << "foreign ids are ignored";
  Sampler sampler({.logit_bias = {{0, -kInf}, {1, -kInf}, {2, -kInf}}}, {});
  EXPECT_EQ(std::get<SampleError>(sampler.sample(logits, nullptr)), SampleError::nothing_allowed);
}

TEST(Sampler, SeedsRepeatAndDiffer) {
  const std::vector<float> logits(100, 0.0f);
  const auto tokens = [&](uint64_t seed) {
    Sampler sampler({.temperature = 0.9f, .seed = seed}, {});
    std::vector<int32_t> drawn;
    for (int i = 0; i < 32; ++i) drawn.push_back(std::get<Sample>(sampler.sample(logits, nullptr)).token);
    return drawn;
  };
  EXPECT_EQ(tokens(1), tokens(1));
  EXPECT_NE(tokens(1), tokens(2));
  EXPECT_NE(tokens(0), tokens(1));
}

TEST(Sampler, RandomNumbersAreThoseOfTheReference) {
  // First outputs of the published xoshiro256** seeded by splitmix64(0).
  Random random(0);
  EXPECT_EQ(random.next(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(random.next(), 0xbf6e1f784956452au);
}

TEST(Sampler, DrawsFollowTheDistribution) {
  std::vector<float> logits;
  const std::array<double, 4> expected = {0.5, 0.3, 0.15, 0.05};
  for (const double p : expected) logits.push_back(static_cast<float>(std::log(p)));
  Sampler sampler({.seed = 3}, {});
  std::array<int, 4> drawn{};
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) ++drawn[std::get<Sample>(sampler.sample(logits, nullptr)).token];
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(drawn[i] / double{kDraws}, expected[i], 0.01);
}

TEST(Sampler, LogprobsAreTheModelsOwn) {
  const std::vector<float> logits = {1.0f, 3.0f, 2.0f, -kInf};
  Sampler sampler({.temperature = 0, .logit_bias = {{3, 0.0f}, {1, -50.0f}}, .logprobs = true, .top_logprobs = 10}, {});
  const Sample sample = std::get<Sample>(sampler.sample(logits, nullptr));
  const double total = std::log(std::exp(1.0) + std::exp(3.0) + std::exp(2.0));
  EXPECT_EQ(sample.token, 2);
  EXPECT_NEAR(sample.logprob, 2 - total, 1e-6);
  ASSERT_EQ(sample.top.size(), 4u);
  EXPECT_EQ(sample.top[0].token, 1);
  EXPECT_NEAR(sample.top[0].logprob, 3 - total, 1e-6);
  EXPECT_EQ(sample.top[2].token, 0);
  EXPECT_EQ(sample.top[3].logprob, -9999.0f);
}

class OnlyEven : public TokenConstraint {
 public:
  bool allows(int32_t token) override { return token % 2 == 0; }
  void mask(std::span<float> logits) override {
    for (size_t i = 1; i < logits.size(); i += 2) logits[i] = -kInf;
  }
  std::optional<int32_t> forced() override { return forced_token; }
  void accept(int32_t) override {}
  std::optional<int32_t> forced_token;
};

TEST(Sampler, ConstraintMasksAndForces) {
  const std::vector<float> logits = {1.0f, 9.0f, 2.0f, 8.0f};
  OnlyEven even;
  Sampler greedy({.temperature = 0}, {});
  EXPECT_EQ(std::get<Sample>(greedy.sample(logits, &even)).token, 2);
  Sampler sampled({.temperature = 2.0f, .top_k = 3, .seed = 1}, {});
  for (int i = 0; i < 200; ++i) EXPECT_EQ(std::get<Sample>(sampled.sample(logits, &even)).token % 2, 0);
  even.forced_token = 3;
  EXPECT_EQ(std::get<Sample>(greedy.sample(logits, &even)).token, 3);
}

}  // namespace
}  // namespace luce::sampling
