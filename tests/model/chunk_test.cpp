// A prompt given whole, in chunks, or beside other sequences gives the same logits.
#include <gtest/gtest.h>

#include "model/loaded_model.hpp"
#include "model/logits.hpp"
#include "support/golden_path.hpp"

namespace luce::model_test {
namespace {

constexpr int kPromptTokens = 300;
constexpr double kOnlyRounding = 1e-10;

class Prompt : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<LoadedModel> load() const {
    return std::make_unique<LoadedModel>(
        support::golden_path("models/" + GetParam() + ".gguf"),
        ModelSetup{.limits = {.context_tokens = 512, .sequences = 3, .rows = 384, .logit_rows = 384},
                   .kv_format = tensor::Format::f32});
  }
};

TEST_P(Prompt, InChunksAsWhole) {
  const auto loaded = load();
  const std::vector<int32_t> tokens = random_tokens(kPromptTokens, loaded->model().vocabulary_size(), 1);
  const std::vector<float> whole = loaded->logits(0, tokens, 0, kPromptTokens);
  EXPECT_LE(nmse(loaded->logits(1, tokens, 0, 64), whole), kOnlyRounding);
  EXPECT_LE(nmse(loaded->logits(2, tokens, 0, 1), whole), kOnlyRounding);
}

TEST_P(Prompt, BesideOthersAsAlone) {
  const auto loaded = load();
  const int vocabulary = loaded->model().vocabulary_size();
  const std::vector<int32_t> tokens = random_tokens(128, vocabulary, 1);
  const std::vector<int32_t> second = random_tokens(70, vocabulary, 2);
  const std::vector<int32_t> third = random_tokens(128, vocabulary, 3);
  const std::vector<float> alone = loaded->logits(0, tokens, 0, 128);

  std::vector<float> beside;
  for (int chunk = 0; chunk < 2; ++chunk) {
    const auto part = [&](const std::vector<int32_t>& all) { return std::span(all).subspan(chunk * 64U).first(64); };
    model::Batch batch;
    append(batch, 1, std::span(second).subspan(chunk * 35U).first(35), chunk * 35);
    const int first_row = batch.rows();
    append(batch, 0, part(tokens), chunk * 64);
    append(batch, 2, part(third), chunk * 64);
    batch.logit_rows.clear();
    for (int row = 0; row < 64; ++row) batch.logit_rows.push_back(first_row + row);
    const std::span<const float> logits = loaded->model().forward(batch);
    beside.insert(beside.end(), logits.begin(), logits.end());
  }
  EXPECT_LE(nmse(beside, alone), kOnlyRounding);
}

TEST_P(Prompt, ASlotUsedAgainStartsAnew) {
  const auto loaded = load();
  const int vocabulary = loaded->model().vocabulary_size();
  const std::vector<int32_t> tokens = random_tokens(80, vocabulary, 4);
  const std::vector<float> fresh = loaded->logits(0, tokens, 0, 80);
  loaded->logits(1, random_tokens(200, vocabulary, 5), 0, 64);
  EXPECT_EQ(loaded->logits(1, tokens, 0, 80), fresh);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Prompt,
                         testing::Values("llama-nano-f32", "qwen3-nano-f32", "qwen3moe-nano-f32", "qwen35-nano-f32",
                                         "qwen35moe-nano-f32"),
                         [](const auto& parameter) { return parameter.param.substr(0, parameter.param.find('-')); });

}  // namespace
}  // namespace luce::model_test
