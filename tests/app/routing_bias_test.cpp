// The hot bias on the demo model, one token a step: every value above 0 substitutes experts, 0 changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "support/child_process.hpp"
#include "support/golden_path.hpp"
#include "support/temporary_folder.hpp"

namespace luce::app_test {
namespace {

struct Decoded {
  int substituted = -1;
  std::string logits;
};

class RoutingBiasOfTheDemo : public testing::Test {
 protected:
  RoutingBiasOfTheDemo() {
    std::ifstream ids(support::golden_path("demo/validation-en.txt"));
    std::string text;
    std::string word;
    for (int i = 0; i < 160 && ids >> word; ++i) text += word + " ";
    tokens_ = folder_.write("ids.txt", std::string_view(text));
  }
  Decoded decode(std::vector<std::string> options) const {
    std::vector<std::string> words = {"logits",   support::source_path("models/demo-q4_k_m.gguf"),
                                      "--tokens", tokens_,
                                      "--output", folder_.path("o"),
                                      "--decode", "--expert-share",
                                      "25%"};
    words.insert(words.end(), options.begin(), options.end());
    const support::ProcessResult result = support::run_luce_spark(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::smatch found;
    EXPECT_TRUE(std::regex_search(result.err, found, std::regex("([0-9]+) substituted"))) << result.err;
    std::ifstream file(folder_.path("o"), std::ios::binary);
    return {std::stoi(found[1]), {std::istreambuf_iterator<char>(file), {}}};
  }

 private:
  support::TemporaryFolder folder_;
  std::string tokens_;
};

TEST_F(RoutingBiasOfTheDemo, EveryValueAboveZeroSubstitutes) {
  const Decoded exact = decode({});
  EXPECT_EQ(exact.substituted, 0);
  EXPECT_EQ(decode({"--hot-bias", "0", "--warmup-tokens", "0", "--unguarded-bias"}).logits, exact.logits);
  int before = 0;
  for (const char* bias : {"0.02", "0.05", "0.1", "0.15"}) {
    const int guarded = decode({"--hot-bias", bias, "--warmup-tokens", "0"}).substituted;
    const int unguarded = decode({"--hot-bias", bias, "--warmup-tokens", "0", "--unguarded-bias"}).substituted;
    EXPECT_GT(guarded, before) << bias;
    EXPECT_GT(unguarded, guarded) << bias;
    before = guarded;
  }
  EXPECT_EQ(decode({"--hot-bias", "0.15", "--warmup-tokens", "1000"}).logits, exact.logits);
}

// The switch that measures without guards must not be had by accident.
TEST(UnguardedBias, IsNoFlagOfAServerAndNoKey) {
  for (const char* command : {"serve", "run", "bench"}) {
    const support::ProcessResult result = support::run_luce_spark({command, "--unguarded-bias"});
    EXPECT_EQ(result.exit_code, 2) << command;
  }
}

}  // namespace
}  // namespace luce::app_test
