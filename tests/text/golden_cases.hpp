#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace luce::text {

/// The cases of tests/golden/cases/<area>.jsonl by id.
const std::map<std::string, nlohmann::ordered_json>& golden_cases(const std::string& area);

/// A path of a case, which begins with "ref/", as a path below tests/golden.
std::string case_path(const std::string& path);

/// The whole file as text.
std::string read_text(const std::string& path);

}  // namespace luce::text
