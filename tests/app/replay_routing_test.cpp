// bench --replay-routing times a model under a recorded routing, whatever its own router would choose.
#include <gtest/gtest.h>

#include "experts/trace.hpp"
#include "support/child_process.hpp"
#include "support/golden_path.hpp"
#include "support/http_client.hpp"
#include "support/temporary_folder.hpp"

namespace luce::app_test {
namespace {

/// A trace for the demo model: in token t each layer uses experts (t * step + k) mod 64, k from 0 to 3.
std::string write_trace(const support::TemporaryFolder& folder, int step) {
  experts::Trace trace(6, 64, 4);
  trace.add_sequence();
  for (int token = 0; token < 64; ++token) {
    std::vector<uint16_t> ids;
    for (int layer = 0; layer < 6; ++layer)
      for (int k = 0; k < 4; ++k) ids.push_back(static_cast<uint16_t>((token * step + k) % 64));
    trace.add_token(ids);
  }
  const std::string path = folder.path("step" + std::to_string(step) + ".lrt");
  trace.save(path);
  return path;
}

double hit_ratio(std::vector<std::string> options) {
  std::vector<std::string> words = {"bench",
                                    "--model",
                                    support::source_path("models/demo-q4_k_m.gguf"),
                                    "--prompt-tokens",
                                    "0",
                                    "--gen-tokens",
                                    "64",
                                    "--repeat",
                                    "1",
                                    "--expert-share",
                                    "25%",
                                    "--eviction-policy",
                                    "lru",
                                    "--json"};
  words.insert(words.end(), options.begin(), options.end());
  const support::ProcessResult result = support::run_luce_spark(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const support::Json report = support::Json::parse(result.out);
  EXPECT_GT(report["results"][0]["tokens_per_second"], 0);
  return report["results"][0]["hit_ratio"];
}

TEST(ReplayRouting, TheRecordedChoiceDecidesWhatIsFetched) {
  const support::TemporaryFolder folder;
  EXPECT_EQ(hit_ratio({"--replay-routing", write_trace(folder, 0)}), 1.0) << "always the same four of 16 slots";
  EXPECT_EQ(hit_ratio({"--replay-routing", write_trace(folder, 4)}), 0.0) << "a cycle of 64 experts through 16 slots";
  const double own = hit_ratio({});
  EXPECT_GT(own, 0.05);
  EXPECT_LT(own, 0.95);
}

TEST(ReplayRouting, ATraceOfAnotherModelIsRefused) {
  const support::TemporaryFolder folder;
  experts::Trace trace(5, 64, 4);
  trace.add_sequence();
  trace.add_token(std::vector<uint16_t>(20, 1));
  trace.save(folder.path("other.lrt"));
  const support::ProcessResult result =
      support::run_luce_spark({"bench", "--model", support::source_path("models/demo-q4_k_m.gguf"), "--replay-routing",
                               folder.path("other.lrt")});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("layers"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace luce::app_test
