// Every listed case that needs a running server and every one of a function is tried by a test that names it or is
// named here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "support/golden_path.hpp"

namespace luce::server {
namespace {

std::string sources_of_tests() {
  std::string all;
  for (const char* folder :
       {"tests/server", "tests/app", "tests/completion", "tests/text", "tests/engine", "tests/sampling"})
    for (const auto& each : std::filesystem::recursive_directory_iterator(support::source_path(folder))) {
      if (each.path().extension() != ".cpp" || each.path().filename() == "case_coverage_test.cpp") continue;
      std::ifstream stream(each.path());
      all.append(std::istreambuf_iterator<char>(stream), {});
    }
  return all;
}

constexpr const char* kAreas[] = {"http",    "security", "streaming", "concurrency", "sampling",
                                  "context", "template", "tokenizer", "tool_calls",  "reasoning"};

// Cases of functions whose tests do not name them: the test that asserts their values.
const std::map<std::string, std::string> kTestsOfCases = {
    {"rollback-to-checkpoint-exact", "ResumePosition, RollsBackToACheckpointExactly"},
    {"cap-checked-before-allocation", "SnapshotStore, CapIsCheckedBeforeAllocating"},
    {"template-kwargs-reach-template", "ChatTemplate, variables_of_the_request_replace_none_of_ours"},
    {"template-kwargs-cannot-replace-messages", "ChatTemplate, variables_of_the_request_replace_none_of_ours"},
    {"penalties-act-at-temperature-zero", "Sampler, PenaltiesActAtTemperatureZero"},
    {"negative-logit-repeat-penalty", "Sampler, RepeatPenaltyMakesNegativeLogitsLessLikely"},
    {"presence-counts-generated-only", "Sampler, PresenceAndFrequencyCountGeneratedTokensOnly"},
    {"sampler-off-values", "Distribution, OffValuesGiveThePlainSoftmax"},
    {"sampler-cuts-exact", "Distribution, CutsKeepExactlyTheirTokens"},
    {"sampler-extreme-values", "Distribution, ValuesThatLeaveOneToken"},
    {"template-cannot-exhaust", "JinjaLimits, no_template_hangs_or_fills_the_memory"},
    {"template-deep-nesting", "JinjaLimits, deep_sources_are_refused_not_fatal"},
    {"end-token-text-not-shown", "CompleterTest, EndTokenIsNotShownButItsTextIs"},
    {"config-false-and-comments", "SettingsFile, FalseIsHeardCommentsAreNotExpandedAndEmptyVariablesAreUnset"},
    {"golden-template-files", "TemplateGolden, every_case_matches"},
};

// Rows with a model's output are all read by ReplyCases.EveryRowWithAModelOutput and StopStringsForRandomCuts.
bool is_a_reply(const nlohmann::json& row) {
  const auto& given = row["given"];
  return given.contains("model_output") || given.contains("token_texts") || given.contains("token_bytes_hex");
}

TEST(CaseCoverage, EveryCaseIsTried) {
  const std::string sources = sources_of_tests();
  for (const char* area : kAreas) {
    std::ifstream stream(support::golden_path(std::string("cases/") + area + ".jsonl"));
    for (std::string line; std::getline(stream, line);) {
      const auto parsed = nlohmann::json::parse(line);
      if (parsed["level"] != "http" && (parsed["level"] != "unit" || is_a_reply(parsed))) continue;
      const std::string id = parsed["id"];
      const auto elsewhere = kTestsOfCases.find(id);
      const bool tried = elsewhere == kTestsOfCases.end() ? sources.find("\"" + id + "\"") != std::string::npos
                                                          : sources.find(elsewhere->second) != std::string::npos;
      EXPECT_TRUE(tried) << id;
    }
  }
}

}  // namespace
}  // namespace luce::server
