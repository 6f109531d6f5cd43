// The process stays within the memory it was given, and the answer never depends on how much that was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/child_process.hpp"
#include "support/golden_path.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_folder.hpp"
#include "synthetic/model_spec.hpp"
#include "synthetic/write_model.hpp"

namespace luce::app_test {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kAllowedExcess = 64 * kMebibyte;
constexpr int64_t kLargeModelBytes = (support::kSanitized ? 300 : 2000) * kMebibyte;

support::ProcessResult answer(const std::string& model, int64_t budget_bytes) {
  return support::run_luce_spark({"run", "--model", model, "--ram-memory", std::to_string(budget_bytes), "--ctx-size",
                                  "512", "-p", "Was ist python3-numpy?", "--temperature", "0", "--max-tokens", "24"},
                                 std::chrono::minutes(5));
}

/// The smallest budget that is accepted, found from what the refusal of a smaller one says.
int64_t least_budget(const std::string& model) {
  const support::ProcessResult refused = answer(model, kMebibyte);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, testing::AllOf(testing::HasSubstr("does not fit"), testing::HasSubstr("dense weights"),
                                          testing::HasSubstr("expert slots")));
  const std::string words = "together ";
  const size_t at = refused.err.find(words);
  EXPECT_NE(at, std::string::npos) << refused.err;
  return std::stoll(refused.err.substr(at + words.size()));
}

void check_budgets(const std::string& model, int64_t model_bytes) {
  // What the process itself takes is measured at its start and differs a little between runs.
  constexpr int64_t kSlack = (support::kSanitized ? 16 : 1) * kMebibyte;
  const int64_t least = least_budget(model) + kSlack;
  EXPECT_EQ(answer(model, least - 3 * kSlack).exit_code, 1);
  std::string expected;
  for (const double share : {0.0, 0.1, 0.4, 1.0, 1.5}) {
    const int64_t budget = least + static_cast<int64_t>(share * static_cast<double>(model_bytes));
    SCOPED_TRACE("budget " + std::to_string(budget));
    const support::ProcessResult result = answer(model, budget);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    if (expected.empty()) expected = result.out;
    EXPECT_EQ(result.out, expected);
    EXPECT_TRUE(support::kSanitized || result.peak_resident_bytes <= budget + kAllowedExcess)
        << result.peak_resident_bytes;
  }
  EXPECT_GT(expected.size(), 10U);
}

TEST(MemoryBudget, HoldsOnTheDemoModel) {
  check_budgets(support::source_path("models/demo-q4_k_m.gguf"), 15 * kMebibyte);
}

TEST(MemoryBudget, HoldsOnALargeModel) {
  support::TemporaryFolder folder;
  synthetic::ModelSpec spec = synthetic::preset("35b-a3b");
  spec.vocab = 8192;
  spec.layers = 4;
  spec.experts = static_cast<uint32_t>(kLargeModelBytes / (8 * kMebibyte));
  synthetic::write_model(spec, folder.path("large.gguf"));
  check_budgets(folder.path("large.gguf"), kLargeModelBytes);
}

}  // namespace
}  // namespace luce::app_test
