// Bias, --router-top-k and --router-temperature: what they are when off, and that they are told when on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "support/child_process.hpp"
#include "support/golden_path.hpp"
#include "support/temporary_folder.hpp"

namespace luce::app_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RouterChange : public testing::Test {
 protected:
  /// Logits of 48 tokens as bytes, with what was said on stderr.
  std::string logits(const std::vector<std::string>& more, std::string* said = nullptr) const {
    const std::string output = folder_.path("logits.f32");
    std::vector<std::string> arguments = {"logits",   support::source_path("models/demo-q4_k_m.gguf"),
                                          "--tokens", support::golden_path("logits/tokens48.txt"),
                                          "--output", output};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const support::ProcessResult result = support::run_luce_spark(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    if (said != nullptr) *said = result.err;
    std::ifstream file(output, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static support::ProcessResult run(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"run",          "-p", "Was ist python3-numpy?", "--temperature", "0",
                                          "--max-tokens", "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return support::run_luce_spark(arguments);
  }
  support::TemporaryFolder folder_;
};

TEST_F(RouterChange, WithEverythingOffTheOutputIsTheExactEnginesToTheByte) {
  const std::string exact = logits({"--decode", "--expert-share", "100%"});
  ASSERT_GT(exact.size(), 48U * 1000U);
  std::string said;
  EXPECT_TRUE(logits({"--decode", "--expert-share", "25%", "--hot-bias", "0", "--balance-penalty", "0",
                      "--router-top-k", "auto", "--router-temperature", "1", "--warmup-tokens", "0"},
                     &said) == exact);
  EXPECT_THAT(said, HasSubstr("0 substituted, displaced weight 0.000, 0 dropped, 0 reweighted"));
  // The model's own top-k is no change; a penalty without a bias has nothing to act on.
  EXPECT_TRUE(logits({"--decode", "--expert-share", "25%", "--router-top-k", "4", "--balance-penalty", "1"}) == exact);
}

TEST_F(RouterChange, EachSettingChangesDecodedTokensAndIsCounted) {
  const std::string exact = logits({"--decode"});
  std::string said;
  EXPECT_FALSE(logits({"--decode", "--router-top-k", "2"}, &said) == exact);
  EXPECT_THAT(said, HasSubstr(" 576 dropped, 0 reweighted"));  // 48 tokens, 6 layers, 2 of 4
  EXPECT_FALSE(logits({"--decode", "--router-temperature", "1.5"}, &said) == exact);
  EXPECT_THAT(said, HasSubstr(" 0 dropped, 1152 reweighted"));
}

TEST_F(RouterChange, PromptsAreLeftAlone) {
  EXPECT_TRUE(logits({"--router-top-k", "1", "--router-temperature", "3"}) == logits({}));
}

TEST_F(RouterChange, GoesTogetherWithTheBias) {
  std::string said;
  logits({"--decode", "--router-top-k", "3", "--hot-bias", "0.15", "--expert-share", "25%", "--warmup-tokens", "0"},
         &said);
  EXPECT_THAT(said, AllOf(HasSubstr(" 288 dropped"), Not(HasSubstr(" 0 substituted"))));
}

TEST_F(RouterChange, IsToldAtTheStart) {
  const support::ProcessResult both = run({"--router-top-k", "2", "--router-temperature", "1.5"});
  EXPECT_EQ(both.exit_code, 0);
  EXPECT_THAT(both.err, AllOf(HasSubstr("--router-top-k is active: decoding uses the best 2 of 4"),
                              HasSubstr("--router-temperature is active: decoding weighs experts at temperature 1.5")));
  EXPECT_THAT(run({"--router-top-k", "4"}).err, HasSubstr("--router-top-k is inactive: 4 is the model's own"));
  const support::ProcessResult more = run({"--router-top-k", "5"});
  EXPECT_EQ(more.exit_code, 2);
  EXPECT_THAT(more.err, HasSubstr("--router-top-k is 5 but must be 1 to 4"));
}

}  // namespace
}  // namespace luce::app_test
