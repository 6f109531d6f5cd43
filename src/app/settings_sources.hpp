#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/option_table.hpp"
#include "app/yaml_settings.hpp"

namespace luce::app {

/// Settings with the knowledge of what was asked for explicitly.
struct ResolvedSettings {
  Settings values;
  std::set<std::string> given;        // flags of options that were set by any source
  std::vector<std::string> warnings;  // such as a variable LUCE_... that nobody reads

  bool is_given(const std::string& flag) const { return given.contains(flag); }
};

/// What the command line says: flag (without dashes) to text.
using FlagTexts = std::map<std::string, std::string>;

/// Flag beats environment beats YAML beats default. The YAML file is the one of --config or LUCE_CONFIG, if any.
/// Options of other commands are taken from YAML and environment without complaint. Throws Error{usage} that names the
/// flag, variable, or file and line, what was found and what it must be.
ResolvedSettings resolve_settings(const FlagTexts& flags, const Environment& environment);

/// Variables of the process.
std::optional<std::string> process_environment(const std::string& name);
/// Warnings about LUCE_ variables of the process that name no option.
std::vector<std::string> unknown_variables();

}  // namespace luce::app
