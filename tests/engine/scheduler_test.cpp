#include "engine/scheduler.hpp"

#include <gtest/gtest.h>

#include <map>

namespace luce::engine {
namespace {

constexpr auto kPrompt = device::RowClass::prompt;
constexpr auto kDecode = device::RowClass::decode;

SequenceWork prompt(int slot, int position, int end) {
  return {.slot = slot, .position = position, .prompt_end = end, .border = end, .decoding = false};
}
SequenceWork decoding(int slot, int position) {
  return {.slot = slot, .position = position, .prompt_end = position + 1, .border = position + 1, .decoding = true};
}

using Spans = std::vector<PlannedSpan>;

TEST(Scheduler, Table) {
  struct Row {
    const char* what;
    std::vector<SequenceWork> work;
    StepBudget budget;
    Spans expected;
  };
  const std::vector<Row> rows = {
      {"nothing", {}, {512, 512}, {}},
      {"a short prompt whole", {prompt(0, 0, 50)}, {512, 512}, {{0, 0, 50, kPrompt, true}}},
      {"a long prompt in chunks", {prompt(0, 0, 1000)}, {512, 512}, {{0, 0, 512, kPrompt, false}}},
      {"its last chunk gives logits", {prompt(0, 960, 1000)}, {512, 512}, {{0, 960, 40, kPrompt, true}}},
      {"back to the grid after a cached prefix", {prompt(0, 133, 1000)}, {600, 64}, {{0, 133, 59, kPrompt, false}}},
      {"decoding rows come first",
       {prompt(0, 0, 1000), decoding(1, 40), decoding(2, 7)},
       {512, 64},
       {{1, 40, 1, kDecode, true}, {2, 7, 1, kDecode, true}, {0, 0, 64, kPrompt, false}}},
      {"prompts share evenly",
       {prompt(0, 0, 1000), prompt(1, 0, 1000)},
       {512, 512},
       {{0, 0, 256, kPrompt, false}, {1, 0, 256, kPrompt, false}}},
      {"what a short one leaves goes to the others",
       {prompt(0, 0, 10), prompt(1, 0, 1000)},
       {512, 512},
       {{0, 0, 10, kPrompt, true}, {1, 0, 448, kPrompt, false}}},
      {"no more prompts than the budget has chunks",
       {prompt(0, 0, 99), prompt(1, 0, 99), prompt(2, 0, 99)},
       {512, 64},
       {{0, 0, 64, kPrompt, false}}},
      {"a model with few rows",
       {decoding(0, 5), prompt(1, 0, 99)},
       {33, 512},
       {{0, 5, 1, kDecode, true}, {1, 0, 32, kPrompt, false}}},
  };
  for (const Row& row : rows) {
    Scheduler scheduler;
    EXPECT_TRUE(scheduler.plan(row.work, row.budget) == row.expected) << row.what;
  }
}

TEST(Scheduler, ChunksStopAtBorders) {
  SequenceWork work = prompt(0, 64, 500);
  work.border = 150;
  Scheduler scheduler;
  EXPECT_TRUE(scheduler.plan({{work}}, {512, 512}) == (Spans{{0, 64, 86, kPrompt, false}}));
}

TEST(Scheduler, PromptsTakeTurns) {
  Scheduler scheduler;
  std::map<int, int> rows;
  const std::vector<SequenceWork> work = {decoding(3, 10), prompt(0, 0, 999), prompt(1, 0, 999), prompt(2, 0, 999)};
  for (int step = 0; step < 30; ++step)
    for (const PlannedSpan& span : scheduler.plan(work, {512, 64})) rows[span.slot] += span.rows;
  EXPECT_EQ(rows[0], 640);
  EXPECT_EQ(rows[1], 640);
  EXPECT_EQ(rows[2], 640);
  EXPECT_EQ(rows[3], 30) << "decoding goes on in every step";
}

// However many prompts wait, a step never holds more prompt rows than its budget, and every chunk but the last ends on
// the grid.
TEST(Scheduler, ManyPromptsStayWithinTheBudget) {
  Scheduler scheduler;
  std::vector<SequenceWork> work;
  for (int slot = 0; slot < 20; ++slot) work.push_back(prompt(slot, 0, 100 + 37 * slot));
  while (!work.empty()) {
    int rows = 0;
    for (const PlannedSpan& span : scheduler.plan(work, {300, 256})) {
      rows += span.rows;
      for (SequenceWork& sequence : work)
        if (sequence.slot == span.slot) sequence.position += span.rows;
      EXPECT_TRUE(span.wants_logits || (span.first_position + span.rows) % kChunkGrid == 0);
    }
    EXPECT_GT(rows, 0);
    EXPECT_LE(rows, 256);
    std::erase_if(work, [](const SequenceWork& sequence) { return sequence.position == sequence.prompt_end; });
  }
}

}  // namespace
}  // namespace luce::engine
