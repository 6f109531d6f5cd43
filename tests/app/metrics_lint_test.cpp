// What promtool would say of /metrics after some requests: the text format and the naming rules of Prometheus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "support/child_process.hpp"
#include "support/http_client.hpp"

namespace luce::app_test {
namespace {

struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

struct Family {
  std::string type;
  bool has_help = false;
  std::vector<Sample> samples;
};

// NAME{LABEL="VALUE",...} NUMBER
Sample parse_sample(const std::string& line) {
  static const std::regex form(R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (\S+))re");
  static const std::regex label(R"re(([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$))re");
  std::smatch match;
  EXPECT_TRUE(std::regex_match(line, match, form)) << line;
  Sample sample{.name = match[1], .labels = {}, .value = std::stod(match[4])};
  std::string rest = match[3];
  for (std::smatch found; !rest.empty(); rest = found.suffix()) {
    if (!std::regex_search(rest, found, label, std::regex_constants::match_continuous)) {
      ADD_FAILURE() << "labels of " << line;
      break;
    }
    EXPECT_TRUE(sample.labels.emplace(found[1], found[2]).second) << line;
  }
  return sample;
}

std::string family_of(const std::string& sample, const std::map<std::string, Family>& families) {
  for (const char* ending : {"_bucket", "_sum", "_count"}) {
    if (!sample.ends_with(ending)) continue;
    const std::string name = sample.substr(0, sample.size() - std::string(ending).size());
    const auto found = families.find(name);
    if (found != families.end() && found->second.type == "histogram") return name;
  }
  return sample;
}

std::map<std::string, Family> parse_families(const std::string& text) {
  std::map<std::string, Family> families;
  std::string open;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, kind, name;
    words >> hash >> kind >> name;
    if (hash != "#") {
      const Sample sample = parse_sample(line);
      EXPECT_EQ(family_of(sample.name, families), open) << "outside of its family: " << line;
      families[open].samples.push_back(sample);
    } else if (kind == "HELP") {
      EXPECT_FALSE(families[name].has_help) << "twice: " << line;
      EXPECT_GT(line.size(), 8 + name.size()) << "empty: " << line;
      families[name].has_help = true;
    } else {
      EXPECT_EQ(kind, "TYPE") << line;
      EXPECT_TRUE(families[name].type.empty() && families[name].samples.empty()) << "late or twice: " << line;
      words >> families[name].type;
      open = name;
    }
  }
  return families;
}

void check_histogram(const std::string& name, const Family& family) {
  std::map<std::string, std::pair<double, double>> last;  // by the other labels: bound and count
  std::map<std::string, double> counts;
  const auto key_of = [](Sample sample) {
    sample.labels.erase("le");
    std::string key;
    for (const auto& [label, value] : sample.labels) key += label + "=" + value + ";";
    return key;
  };
  for (const Sample& sample : family.samples) {
    if (sample.name == name + "_count") counts[key_of(sample)] = sample.value;
    if (sample.name != name + "_bucket") continue;
    ASSERT_TRUE(sample.labels.contains("le")) << name;
    const std::string& le = sample.labels.at("le");
    const double bound = le == "+Inf" ? std::numeric_limits<double>::infinity() : std::stod(le);
    const auto before = last.find(key_of(sample));
    if (before != last.end()) {
      EXPECT_GT(bound, before->second.first) << name;
      EXPECT_GE(sample.value, before->second.second) << name << " is not cumulative at " << le;
    }
    last[key_of(sample)] = {bound, sample.value};
  }
  EXPECT_FALSE(last.empty()) << name;
  for (const auto& [key, bucket] : last) {
    EXPECT_TRUE(std::isinf(bucket.first)) << name << " has no +Inf bucket";
    EXPECT_EQ(bucket.second, counts[key]) << name;
  }
}

TEST(MetricsLint, TheTextIsAsPrometheusWantsIt) {
  support::ChildProcess process({support::luce_spark(), "serve", "--port", "0", "--metrics-port", "0"});
  const std::string mark = "ready: http://127.0.0.1:";
  ASSERT_TRUE(process.wait_for_error_text(mark, std::chrono::seconds(20))) << process.error_text();
  const std::string log = process.error_text();
  const int port = std::stoi(log.substr(log.find(mark) + mark.size()));
  const std::string chat = R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":5,
      "metadata":{"session_id":"s\"\\\n{}","task_tag":"t\"\\\n,="}})";
  EXPECT_EQ(support::send_request(port, "POST", "/v1/chat/completions", chat).status, 200);
  EXPECT_EQ(support::send_request(port, "POST", "/v1/chat/completions", "{}").status, 400);
  EXPECT_EQ(support::send_request(port, "GET", "/none\"\\").status, 404);
  const std::string text = support::send_request(port, "GET", "/metrics").body;
  ASSERT_TRUE(text.ends_with("\n"));
  const std::map<std::string, Family> families = parse_families(text);
  EXPECT_GT(families.size(), 25U);
  static const std::regex good_name("[a-z][a-z0-9_]*");
  for (const auto& [name, family] : families) {
    EXPECT_TRUE(std::regex_match(name, good_name) && name.starts_with("luce_")) << name;
    EXPECT_TRUE(family.has_help) << name;
    EXPECT_THAT(family.type, testing::AnyOf("counter", "gauge", "histogram")) << name;
    EXPECT_EQ(family.type == "counter", name.ends_with("_total")) << name << " is a " << family.type;
    // The one name with such an ending is fixed by what users have been told.
    const bool like_a_sample = name.ends_with("_bucket") || name.ends_with("_count") || name.ends_with("_sum");
    EXPECT_EQ(like_a_sample, name == "luce_gpu_cache_expert_count") << name;
    std::set<std::pair<std::string, std::map<std::string, std::string>>> seen;
    for (const Sample& sample : family.samples) {
      EXPECT_TRUE(seen.emplace(sample.name, sample.labels).second) << "twice: " << sample.name;
      EXPECT_TRUE(family.type == "gauge" || sample.value >= 0) << sample.name;
    }
    if (family.type == "histogram") check_histogram(name, family);
  }
}

}  // namespace
}  // namespace luce::app_test
