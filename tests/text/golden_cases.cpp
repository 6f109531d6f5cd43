#include "text/golden_cases.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/golden_path.hpp"

namespace luce::text {

const std::map<std::string, nlohmann::ordered_json>& golden_cases(const std::string& area) {
  static std::map<std::string, std::map<std::string, nlohmann::ordered_json>> areas;
  auto& cases = areas[area];
  if (!cases.empty()) return cases;
  std::ifstream in(support::golden_path("cases/" + area + ".jsonl"));
  for (std::string line; std::getline(in, line);) {
    auto parsed = nlohmann::ordered_json::parse(line);
    const auto id = parsed.at("id").get<std::string>();
    cases[id] = std::move(parsed);
  }
  return cases;
}

std::string case_path(const std::string& path) {
  return path.rfind("ref/", 0) == 0 ? support::golden_path(path.substr(4)) : support::golden_path(path);
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace luce::text
