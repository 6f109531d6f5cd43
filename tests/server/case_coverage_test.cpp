// Every listed case that needs a running server is either tried by a test that names it or stands here with the reason.
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
  for (const char* folder : {"tests/server", "tests/app", "tests/completion", "tests/text"})
    for (const auto& each : std::filesystem::recursive_directory_iterator(support::source_path(folder))) {
      if (each.path().extension() != ".cpp" || each.path().filename() == "case_coverage_test.cpp") continue;
      std::ifstream stream(each.path());
      all.append(std::istreambuf_iterator<char>(stream), {});
    }
  return all;
}

TEST(CaseCoverage, EveryHttpCaseIsTriedOrExcused) {
  const std::string other_api = "only the OpenAI chat and completion routes are offered";
  const std::map<std::string, std::string> excused = {
      {"messages-api-forced-tool", other_api},
      {"count-tokens-endpoint", other_api},
      {"messages-usage-counts", other_api},
      {"responses-api-foreign-tools-skipped", other_api},
  };
  const std::string sources = sources_of_tests();
  for (const char* area : {"http", "security", "streaming", "concurrency", "sampling", "context", "template",
                           "tokenizer", "tool_calls", "reasoning"}) {
    std::ifstream stream(support::golden_path(std::string("cases/") + area + ".jsonl"));
    for (std::string line; std::getline(stream, line);) {
      const auto parsed = nlohmann::json::parse(line);
      if (parsed["level"] != "http") continue;
      const std::string id = parsed["id"];
      const bool tried = sources.find("\"" + id + "\"") != std::string::npos;
      EXPECT_NE(tried, excused.contains(id))
          << id << (tried ? " is tried and excused" : " is neither tried nor excused");
    }
  }
}

}  // namespace
}  // namespace luce::server
