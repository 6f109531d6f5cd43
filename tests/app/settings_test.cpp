#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "app/nearest_name.hpp"
#include "app/option_value.hpp"
#include "app/settings_sources.hpp"
#include "base/error.hpp"
#include "support/temporary_folder.hpp"

namespace luce::app {
namespace {

using testing::HasSubstr;

Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string usage_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

class SettingsFile : public testing::Test {
 protected:
  std::string write(const std::string& text) { return folder.write("luce.yaml", std::string_view(text)); }
  ResolvedSettings resolve(const std::string& yaml, FlagTexts flags = {},
                           const Environment& environment = environment_of({})) {
    flags["config"] = write(yaml);
    return resolve_settings(flags, environment);
  }
  std::string error_of(const std::string& yaml) {
    return usage_error([&] { resolve(yaml); });
  }

  support::TemporaryFolder folder;
};

TEST_F(SettingsFile, FlagBeatsEnvironmentBeatsYamlBeatsDefault) {
  EXPECT_EQ(resolve_settings({}, environment_of({})).values.address.port, 8000);
  EXPECT_EQ(resolve("server: {port: 1}").values.address.port, 1);
  const Environment two = environment_of({{"LUCE_PORT", "2"}});
  EXPECT_EQ(resolve("server: {port: 1}", {}, two).values.address.port, 2);
  EXPECT_EQ(resolve("server: {port: 1}", {{"port", "3"}}, two).values.address.port, 3);
}

TEST_F(SettingsFile, ReadsTheFileOfTheInterfacePage) {
  const ResolvedSettings settings = resolve(R"(
model: qwen3.6-35b-a3b
server: { host: 127.0.0.1, port: 8000 }
spark:
  gpu_memory_limit_gib: 14
  gpu_cache:
    max_experts: 8            # resident experts per layer; auto fills the budget
    eviction_policy: lru      # or hot-score (the default)
    warmup_tokens: 20000
router:
  profile_path: ./router_state.json
  stats_window: 10000
  hot_bias: 0.0
  balance_penalty: 0.02
monitor: { enable_prometheus: true, metrics_port: 9100, log_interval_sec: 5 }
)");
  EXPECT_EQ(settings.values.model.model, "qwen3.6-35b-a3b");
  EXPECT_EQ(settings.values.cache.gpu_memory_bytes, int64_t{14} << 30);
  EXPECT_EQ(settings.values.cache.experts_per_layer, 8);
  EXPECT_EQ(settings.values.cache.eviction_policy, "lru");
  EXPECT_EQ(settings.values.router.profile_path, "./router_state.json");
  EXPECT_EQ(settings.values.monitor.metrics_port, 9100);
  EXPECT_TRUE(settings.is_given("hot-bias"));
  EXPECT_FALSE(settings.is_given("parallel"));
}

// Case config-false-and-comments.
TEST_F(SettingsFile, FalseIsHeardCommentsAreNotExpandedAndEmptyVariablesAreUnset) {
  const ResolvedSettings settings = resolve(
      "alias: \"a # b\"\nserver:\n  port: 8123\n  api_key: ${EMPTY_VAR}\nmonitor:\n"
      "  enable_prometheus: false   # ${NOT_SET}\n",
      {}, environment_of({{"EMPTY_VAR", ""}}));
  EXPECT_EQ(settings.values.address.port, 8123);
  EXPECT_FALSE(settings.values.monitor.enable_prometheus);
  EXPECT_TRUE(settings.values.access.api_keys.empty());
  EXPECT_EQ(settings.values.model.alias, "a # b");
}

TEST_F(SettingsFile, VariablesAreReplacedAndMissingOnesNamed) {
  const auto settings = resolve("alias: x-${NAME}-y", {}, environment_of({{"NAME", "n"}}));
  EXPECT_EQ(settings.values.model.alias, "x-n-y");
  EXPECT_THAT(error_of("model: a\nalias: ${GONE}"), testing::AllOf(HasSubstr("line 2"), HasSubstr("'GONE'")));
}

TEST_F(SettingsFile, ErrorsNameLineAndNearestKey) {
  EXPECT_THAT(error_of("model: x\nspark:\n  gpu_cache:\n    max_expert: 8\n"),
              testing::AllOf(HasSubstr("line 4"), HasSubstr("spark.gpu_cache.max_expert"),
                             HasSubstr("'spark.gpu_cache.max_experts'")));
  EXPECT_THAT(error_of("modle: x"), testing::AllOf(HasSubstr("line 1"), HasSubstr("'model'")));
  EXPECT_THAT(error_of("server:\n  port: eight"), testing::AllOf(HasSubstr("line 2"), HasSubstr("0 to 65535")));
  EXPECT_THAT(error_of("server:\n  port: [1, 2]"), testing::AllOf(HasSubstr("line 2"), HasSubstr("single value")));
  EXPECT_THAT(error_of("server: 5"), testing::AllOf(HasSubstr("line 1"), HasSubstr("keys of its own")));
  EXPECT_THAT(error_of("monitor: {enable_prometheus: 7}"), HasSubstr("true or false"));
  EXPECT_THAT(error_of("server: {port: 1, port: 2}"), HasSubstr("twice"));
  EXPECT_THAT(error_of("- a\n- b"), HasSubstr("map of keys"));
  EXPECT_THAT(error_of("a: [1\nb: 2"), HasSubstr("not valid YAML"));
  EXPECT_THAT(error_of("router: {hot_bias: 0.5}"), HasSubstr("0 to 0.15"));
}

TEST_F(SettingsFile, ListsMayBeWrittenAsLists) {
  const auto settings = resolve("server: {api_key: [alpha, beta], allowed_hosts: [a.example, 'https://b.example']}");
  EXPECT_THAT(settings.values.access.api_keys, testing::ElementsAre("alpha", "beta"));
  EXPECT_THAT(settings.values.access.allowed_hosts, testing::ElementsAre("a.example", "https://b.example"));
}

TEST(Settings, BadFlagsAndVariablesNameTheirSource) {
  EXPECT_THAT(usage_error([] {
                resolve_settings({{"port", "70000"}}, environment_of({}));
              }),
              testing::AllOf(HasSubstr("--port"), HasSubstr("'70000'")));
  EXPECT_THAT(usage_error([] {
                resolve_settings({}, environment_of({{"LUCE_RAM_MEMORY", "lots"}}));
              }),
              testing::AllOf(HasSubstr("LUCE_RAM_MEMORY"), HasSubstr("'lots'")));
  EXPECT_THAT(usage_error([] {
                resolve_settings({{"config", "/nonexistent.yaml"}}, environment_of({}));
              }),
              HasSubstr("/nonexistent.yaml"));
}

TEST(Settings, AnEmptyKeyCountsAsAskedFor) {
  const auto settings = resolve_settings({}, environment_of({{"LUCE_API_KEY", ""}}));
  EXPECT_TRUE(settings.values.access.api_key_given);
  EXPECT_TRUE(settings.values.access.api_keys.empty());
  EXPECT_TRUE(resolve_settings({{"api-key", "   "}}, environment_of({})).values.access.api_keys.empty());
}

TEST(OptionTable, EveryFlagOfServeHasAKeyAndNothingIsDoubled) {
  std::set<std::string> flags;
  std::set<std::string> keys;
  std::set<std::string> variables;
  for (const Option& each : option_table()) {
    EXPECT_TRUE(flags.insert(each.flag).second) << each.flag;
    EXPECT_TRUE(variables.insert(environment_name(each)).second) << each.flag;
    if (each.yaml_key != nullptr) {
      EXPECT_TRUE(keys.insert(each.yaml_key).second) << each.yaml_key;
    }
    EXPECT_TRUE((each.commands & kServe) == 0 || each.yaml_key != nullptr) << each.flag;
  }
}

TEST(OptionTable, EveryDefaultReadsBackAsItself) {
  for (const Option& each : option_table()) {
    const std::string shown = each.show(Settings{});
    if (shown.empty()) continue;
    Settings settings;
    each.set(settings, shown);
    EXPECT_EQ(each.show(settings), shown) << each.flag;
  }
}

TEST(OptionTable, HasEveryFlagOfTheInterfacePage) {
  for (const char* flag : {"model",
                           "host",
                           "port",
                           "ctx-size",
                           "parallel",
                           "api-key",
                           "device",
                           "gpu-memory",
                           "gpu-cache-experts",
                           "ram-memory",
                           "cpu-moe",
                           "n-cpu-moe",
                           "eviction-policy",
                           "warmup-tokens",
                           "stats-window",
                           "cache-type",
                           "router-profile-path",
                           "hot-bias",
                           "balance-penalty",
                           "router-top-k",
                           "router-temperature",
                           "reproducible",
                           "allowed-hosts",
                           "metrics-port",
                           "threads",
                           "isa",
                           "route-trace",
                           "expert-share"}) {
    const Option* const option = find_flag(flag);
    ASSERT_NE(option, nullptr) << flag;
    EXPECT_NE(option->commands & kServe, 0U) << flag;
  }
}

TEST(OptionValue, Shares) {
  EXPECT_DOUBLE_EQ(parse_share("30%"), 0.3);
  EXPECT_DOUBLE_EQ(parse_share("0.3"), 0.3);
  EXPECT_DOUBLE_EQ(parse_share("0%"), 0);
  EXPECT_DOUBLE_EQ(parse_share("100%"), 1);
  for (const char* bad : {"", "%", "101%", "-1%", "30", "nan", "x"}) EXPECT_THROW(parse_share(bad), BadValue) << bad;
}

TEST(OptionValue, Numbers) {
  EXPECT_EQ(parse_whole("-5", -5, 5), -5);
  for (const char* bad : {"", "1.5", "5x", " 5", "6", "99999999999999999999"})
    EXPECT_THROW(parse_whole(bad, -5, 5), BadValue) << bad;
  for (const char* bad : {"", "nan", "inf", "1,5"}) EXPECT_THROW(parse_decimal(bad, 0, 5), BadValue) << bad;
  EXPECT_THAT(parse_list(" a, b ,,c "), testing::ElementsAre("a", "b", "c"));
}

TEST(NearestName, CountsEdits) {
  EXPECT_EQ(nearest_name("prot", {"host", "port", "parallel"}), "port");
  EXPECT_EQ(nearest_name("x", {}), "");
}

}  // namespace
}  // namespace luce::app
