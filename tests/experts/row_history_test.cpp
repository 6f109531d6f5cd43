#include "experts/row_history.hpp"

#include <gtest/gtest.h>

namespace luce::experts {
namespace {

std::vector<int32_t> list(std::span<const int32_t> ids) { return {ids.begin(), ids.end()}; }

TEST(RowHistory, KeepsTheLastTwoTokensOfEachRow) {
  RowHistory history;
  for (int32_t t = 1; t <= 3; ++t) {
    history.begin_step(2, false);
    history.push_decode(0, std::vector<int32_t>{t});
    history.push_decode(1, std::vector<int32_t>{10 * t});
  }
  EXPECT_EQ(list(history.decode(0, 1)), std::vector<int32_t>{3});
  EXPECT_EQ(list(history.decode(0, 2)), std::vector<int32_t>{2});
  EXPECT_EQ(list(history.decode(1, 1)), std::vector<int32_t>{30});
  EXPECT_TRUE(history.decode(2, 1).empty());
  history.begin_step(1, false);
  EXPECT_TRUE(history.decode(1, 1).empty());
  EXPECT_EQ(list(history.decode(0, 1)), std::vector<int32_t>{3});
}

TEST(RowHistory, AFinishedPromptBecomesTheNewRow) {
  RowHistory history;
  history.begin_step(1, true);
  history.push_decode(0, std::vector<int32_t>{1});
  history.push_prompt(std::vector<int32_t>{5});
  history.push_prompt(std::vector<int32_t>{6});
  history.begin_step(2, false);
  EXPECT_EQ(list(history.decode(1, 1)), std::vector<int32_t>{6});
  EXPECT_EQ(list(history.decode(1, 2)), std::vector<int32_t>{5});
  EXPECT_TRUE(history.prompt(1).empty());
}

TEST(RowHistory, APromptThatIsNotContinuedIsForgotten) {
  RowHistory history;
  history.begin_step(0, true);
  history.push_prompt(std::vector<int32_t>{5});
  history.begin_step(0, true);
  EXPECT_EQ(list(history.prompt(1)), std::vector<int32_t>{5});
  history.begin_step(0, false);
  EXPECT_TRUE(history.prompt(1).empty());
}

TEST(RowHistory, AGapBreaksAPrompt) {
  RowHistory history;
  history.push_prompt(std::vector<int32_t>{5});
  history.break_prompt();
  EXPECT_TRUE(history.prompt(1).empty());
  history.push_prompt(std::vector<int32_t>{6});
  EXPECT_EQ(list(history.prompt(1)), std::vector<int32_t>{6});
  EXPECT_TRUE(history.prompt(2).empty());
}

}  // namespace
}  // namespace luce::experts
