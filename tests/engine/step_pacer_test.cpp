#include "engine/step_pacer.hpp"

#include <gtest/gtest.h>

namespace luce::engine {
namespace {

TEST(StepPacer, FollowsTheSpeedOfTheMachine) {
  StepPacer pacer(512, 1.0);
  EXPECT_EQ(pacer.prompt_rows(), 512);
  pacer.record(512, 2.0);
  EXPECT_EQ(pacer.prompt_rows(), 256);
  pacer.record(256, 0.9);
  EXPECT_EQ(pacer.prompt_rows(), 256) << "within the target";
  for (int i = 0; i < 5; ++i) pacer.record(pacer.prompt_rows(), 3.0);
  EXPECT_EQ(pacer.prompt_rows(), 64) << "never below the grid";
  for (int i = 0; i < 9; ++i) pacer.record(pacer.prompt_rows(), 0.1);
  EXPECT_EQ(pacer.prompt_rows(), 512) << "never above the most";
}

TEST(StepPacer, SmallStepsSayNothingAboutLargeOnes) {
  StepPacer pacer(512, 1.0);
  pacer.record(512, 2.0);
  pacer.record(1, 0.001);
  pacer.record(0, 5.0);
  EXPECT_EQ(pacer.prompt_rows(), 256);
}

}  // namespace
}  // namespace luce::engine
