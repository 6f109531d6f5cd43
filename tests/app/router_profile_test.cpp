// Usage outlives the process, a profile never stops a start, and decoded routing can be recorded and replayed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/child_process.hpp"
#include "support/golden_path.hpp"
#include "support/temporary_folder.hpp"

namespace luce::app_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class RouterProfile : public testing::Test {
 protected:
  support::ProcessResult answer(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {
        "run",          "--model", model_,           "-p", "Was ist python3-numpy?", "--temperature", "0",
        "--max-tokens", "20",      "--expert-share", "25%"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return support::run_luce_spark(arguments);
  }
  std::string profile() const { return folder_.path("router_state.json"); }
  std::string text() const {
    std::ifstream file(profile(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string model_ = support::source_path("models/demo-q4_k_m.gguf");
  support::TemporaryFolder folder_;
};

TEST_F(RouterProfile, IsKeptOverRestartsAndNeverChangesTheAnswer) {
  const support::ProcessResult without = answer({});
  const support::ProcessResult first = answer({"--router-profile-path", profile()});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("no profile yet"));
  EXPECT_THAT(text(), HasSubstr("qwen3moe"));
  const support::ProcessResult second = answer({"--router-profile-path", profile()});
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err, Not(HasSubstr("profile")));
  EXPECT_EQ(first.out, without.out);
  EXPECT_EQ(second.out, without.out);
}

TEST_F(RouterProfile, ThatIsDamagedCostsAWarningOnly) {
  ASSERT_EQ(answer({"--router-profile-path", profile()}).exit_code, 0);
  const std::string whole = text();
  folder_.write("router_state.json", std::string_view(whole).substr(0, whole.size() / 2));
  const support::ProcessResult result = answer({"--router-profile-path", profile()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("refused"));
  EXPECT_EQ(text().substr(0, 12), whole.substr(0, 12));
  EXPECT_TRUE(std::filesystem::exists(profile() + ".before"));
}

TEST_F(RouterProfile, ThatCannotBeSavedCostsAWarningOnly) {
  const support::ProcessResult result = answer({"--router-profile-path", folder_.path("none/router_state.json")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("cannot be saved"));
}

TEST_F(RouterProfile, RoutingIsRecordedForReplay) {
  const std::string trace = folder_.path("answer.lrt");
  const support::ProcessResult recorded = answer({"--route-trace", trace});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const support::ProcessResult replay =
      support::run_luce_spark({"replay", trace, "--policy", "lru", "--slots", "64", "--json"});
  ASSERT_EQ(replay.exit_code, 0) << replay.err;
  // 19 decoded tokens of 6 layers and 4 experts: the first of the 20 comes from the prompt.
  EXPECT_THAT(replay.out, HasSubstr("\"accesses\":456"));
  EXPECT_EQ(answer({"--route-trace", folder_.path("none/x.lrt")}).exit_code, 1);
}

}  // namespace
}  // namespace luce::app_test
