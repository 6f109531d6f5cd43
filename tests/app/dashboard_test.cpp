// The dashboard in docs/ loads into Grafana, and asks only for what a server exports; the page on trouble names only
// that too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "support/child_process.hpp"
#include "support/golden_path.hpp"
#include "support/http_client.hpp"
#include "support/temporary_folder.hpp"

namespace luce::app_test {
namespace {

using support::Json;

std::string text_of(const std::string& path) {
  std::ifstream file(support::source_path(path));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
    found.insert((*at)[at->size() - 1]);
  return found;
}

/// Series that a server with everything switched on exports: by name, the names of their labels.
class Exported : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const support::TemporaryFolder folder;
    support::ChildProcess process({support::luce_spark(), "serve", "--port", "0", "--metrics-port", "0", "--hot-bias",
                                   "0.02", "--router-profile-path", folder.path("router_state.json"), "--expert-share",
                                   "50%"});
    const std::string mark = "ready: http://127.0.0.1:";
    ASSERT_TRUE(process.wait_for_error_text(mark, std::chrono::seconds(20))) << process.error_text();
    const std::string log = process.error_text();
    const int port = std::stoi(log.substr(log.find(mark) + mark.size()));
    support::send_request(port, "POST", "/v1/completions",
                          R"({"prompt":"a","max_tokens":4,"metadata":{"session_id":"s","task_tag":"t"}})");
    std::string page;
    // A request is counted a moment after its answer.
    for (int i = 0; i < 100 && page.find("luce_http_requests_total") == std::string::npos; ++i)
      page = support::send_request(port, "GET", "/metrics").body;
    const std::regex line(R"((?:^|\n)([a-z_0-9]+)(?:\{([^}]*)\})? )");
    for (std::sregex_iterator at(page.begin(), page.end(), line), end; at != end; ++at)
      for (const std::string& label : matches("," + (*at)[2].str() + ",x=", R"(,([a-z_]+)=)"))
        series_[(*at)[1]].insert(label);
  }

  static std::map<std::string, std::set<std::string>> series_;
};

std::map<std::string, std::set<std::string>> Exported::series_;

TEST_F(Exported, EveryQueryOfTheDashboardFindsItsSeries) {
  const Json dashboard = Json::parse(text_of("docs/grafana.json"));
  ASSERT_GT(series_.size(), 30U);
  int queries = 0;
  for (const Json& panel : dashboard["panels"])
    for (const Json& target : panel["targets"]) {
      ++queries;
      const std::string query = target["expr"];
      const auto names = matches(query, R"((luce_[a-z0-9_]+))");
      EXPECT_FALSE(names.empty()) << query;
      std::set<std::string> labels = matches(query, R"(by \(([a-z_]+)\))");
      labels.merge(matches(query, R"([{,]([a-z_]+)=)"));
      if (query.find("sum") == std::string::npos) labels.merge(matches(target["legendFormat"], R"(\{\{([a-z_]+)\}\})"));
      for (const std::string& name : names) {
        ASSERT_TRUE(series_.contains(name)) << name << " in " << query;
        for (const std::string& label : labels) EXPECT_TRUE(series_[name].contains(label)) << label << " in " << query;
      }
    }
  EXPECT_GT(queries, 25);
}

TEST_F(Exported, TheDashboardIsOneThatGrafanaLoads) {
  const Json dashboard = Json::parse(text_of("docs/grafana.json"));
  EXPECT_GE(dashboard["schemaVersion"], 36);
  EXPECT_FALSE(dashboard["title"].get<std::string>().empty());
  EXPECT_FALSE(dashboard["uid"].get<std::string>().empty());
  ASSERT_EQ(dashboard["templating"]["list"][0]["type"], "datasource");
  const std::string source = "${" + dashboard["templating"]["list"][0]["name"].get<std::string>() + "}";
  std::set<int> ids;
  std::set<std::pair<int, int>> cells;
  for (const Json& panel : dashboard["panels"]) {
    EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second);
    EXPECT_THAT(panel["type"].get<std::string>(), testing::AnyOf("timeseries", "stat", "table", "state-timeline"));
    EXPECT_EQ(panel["datasource"]["uid"], source);
    const Json& at = panel["gridPos"];
    EXPECT_LE(at["x"].get<int>() + at["w"].get<int>(), 24);
    for (int x = 0; x < at["w"]; ++x)
      for (int y = 0; y < at["h"]; ++y)
        EXPECT_TRUE(cells.insert({at["x"].get<int>() + x, at["y"].get<int>() + y}).second) << panel["title"];
    std::set<std::string> references;
    for (const Json& target : panel["targets"]) {
      EXPECT_TRUE(references.insert(target["refId"].get<std::string>()).second);
      EXPECT_EQ(target["datasource"]["uid"], source);
    }
  }
}

TEST_F(Exported, ThePageOnTroubleNamesOnlyWhatThereIs) {
  for (std::string name : matches(text_of("docs/troubleshooting.md"), R"((luce_[a-z0-9_]+))")) {
    if (name == "luce_inference_latency_ms" || name == "luce_time_to_first_token_ms") name += "_bucket";
    EXPECT_TRUE(series_.contains(name)) << name;
  }
}

// INTERFACE: what people and scripts rely on.
TEST_F(Exported, EveryFixedNameIsThere) {
  for (const char* name :
       {"luce_gpu_memory_used_bytes", "luce_gpu_cache_expert_count", "luce_gpu_cache_hit_ratio",
        "luce_router_expert_usage", "luce_ram_usage_bytes", "luce_inference_latency_ms_bucket",
        "luce_time_to_first_token_ms_bucket", "luce_queue_length", "luce_requests_total", "luce_memory_planned_bytes",
        "luce_router_profile_age_seconds", "luce_router_profile_save_errors_total", "luce_state"})
    EXPECT_TRUE(series_.contains(name)) << name;
  for (const char* name : {"hits", "misses", "fetched_bytes", "fetch_seconds", "stall_seconds", "evictions",
                           "never_reused", "substituted", "displaced_weight"}) {
    const std::string by_layers = std::string("luce_expert_layers_") + name + "_total";
    ASSERT_TRUE(series_.contains(by_layers)) << by_layers;
    EXPECT_THAT(series_[by_layers], testing::IsSupersetOf({"tier", "layers"}));
  }
}

}  // namespace
}  // namespace luce::app_test
