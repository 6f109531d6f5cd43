// Perplexity of the demo model against the values that an independent engine gives (models/README.md).
#include <gtest/gtest.h>

#include <cmath>

#include "model/loaded_model.hpp"
#include "model/logits.hpp"
#include "support/golden_path.hpp"

namespace luce::model_test {
namespace {

constexpr int kChunkTokens = 512;
constexpr double kTolerance = 0.005;

double perplexity(LoadedModel& loaded, const std::vector<int32_t>& tokens) {
  double sum = 0;
  int64_t predicted = 0;
  for (size_t begin = 0; begin + kChunkTokens <= tokens.size(); begin += kChunkTokens) {
    const auto chunk = std::span(tokens).subspan(begin, kChunkTokens);
    const std::vector<float> logits = loaded.logits(0, chunk, 0, 256);
    for (size_t i = 0; i + 1 < kChunkTokens; ++i) {
      const auto row = std::span(logits).subspan(i * loaded.vocabulary(), loaded.vocabulary());
      sum += negative_log_likelihood(row, chunk[i + 1]);
      ++predicted;
    }
  }
  return std::exp(sum / static_cast<double>(predicted));
}

struct Domain {
  const char* name;
  double perplexity;
};

class DemoModel : public testing::TestWithParam<Domain> {};

TEST_P(DemoModel, Perplexity) {
  LoadedModel loaded(support::source_path("models/demo-q4_k_m.gguf"),
                     {.limits = {.context_tokens = 512, .sequences = 1, .rows = 256, .logit_rows = 256}});
  const std::string name = GetParam().name;
  const std::string file = name == "all" ? "demo/validation.txt" : "demo/validation-" + name + ".txt";
  const double found = perplexity(loaded, read_tokens(support::golden_path(file)));
  EXPECT_NEAR(found / GetParam().perplexity, 1.0, kTolerance) << "found " << found;
}

INSTANTIATE_TEST_SUITE_P(Validation, DemoModel,
                         testing::Values(Domain{"all", 13.398}, Domain{"en", 14.70}, Domain{"de", 14.02},
                                         Domain{"fr", 13.10}, Domain{"it", 12.24}, Domain{"ja", 6.60},
                                         Domain{"C", 6.68}, Domain{"Python", 15.20}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace luce::model_test
