#include "app/settings_sources.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "app/nearest_name.hpp"
#include "base/error.hpp"
#include "base/format.hpp"

namespace luce::app {
namespace {

void apply(ResolvedSettings& settings, const Option& option, const std::string& text, const std::string& source) {
  try {
    option.set(settings.values, text);
  } catch (const BadValue& expected) {
    throw Error(ErrorKind::usage, fmt::format("{} is '{:.80}' but must be {}", source, text, expected.what()),
                option.flag);
  }
  settings.given.insert(option.flag);
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(ErrorKind::usage, "cannot open the settings file '{}'; give its path with --config", path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string config_path(const FlagTexts& flags, const Environment& environment) {
  const auto flag = flags.find("config");
  return flag != flags.end() ? flag->second : environment("LUCE_CONFIG").value_or("");
}

}  // namespace

ResolvedSettings resolve_settings(const FlagTexts& flags, const Environment& environment) {
  ResolvedSettings settings;
  if (const std::string path = config_path(flags, environment); !path.empty()) {
    for (const YamlSetting& each : parse_yaml_settings(path, read_file(path), environment))
      apply(settings, *each.option, each.text, fmt::format("{} line {}: {}", path, each.line, each.option->yaml_key));
  }
  for (const Option& option : option_table()) {
    const std::string name = environment_name(option);
    const auto value = environment(name);
    // An empty variable counts as not set.
    if (value && !value->empty()) apply(settings, option, *value, name);
    if (value && value->empty() && name == "LUCE_API_KEY") settings.values.access.api_key_given = true;
  }
  for (const auto& [flag, text] : flags) {
    if (flag == "config") continue;
    const Option* const option = find_flag(flag);
    if (option != nullptr) apply(settings, *option, text, "--" + flag);
  }
  return settings;
}

std::optional<std::string> process_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::vector<std::string> unknown_variables() {
  std::set<std::string> known = {"LUCE_CONFIG", "LUCE_MODELS"};
  for (const Option& each : option_table()) known.insert(environment_name(each));
  std::vector<std::string> warnings;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    const std::string name = variable.substr(0, variable.find('='));
    if (name.compare(0, 5, "LUCE_") != 0 || known.contains(name)) continue;
    warnings.push_back(fmt::format("the environment variable {} has no effect; the nearest that has is {}", name,
                                   nearest_name(name, {known.begin(), known.end()})));
  }
  return warnings;
}

}  // namespace luce::app
