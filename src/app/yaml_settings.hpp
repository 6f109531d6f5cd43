#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/option_table.hpp"

namespace luce::app {

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// One setting given in a YAML file.
struct YamlSetting {
  const Option* option = nullptr;
  std::string text;
  int line = 0;  // from 1
};

/// Reads `text` (named `file` in errors): known keys only, ${NAME} in values replaced from the environment, empty
/// values not set. Throws Error{usage} that names the line, what is wrong and the nearest known key.
std::vector<YamlSetting> parse_yaml_settings(const std::string& file, const std::string& text,
                                             const Environment& environment);

}  // namespace luce::app
