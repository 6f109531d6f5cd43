#pragma once

#include <span>
#include <stdexcept>
#include <string>

#include "app/settings.hpp"

namespace luce::app {

/// Commands that share options; one bit each.
enum CommandBit : unsigned { kServe = 1, kRun = 2, kBench = 4, kPlan = 8, kLogits = 16 };

/// One setting, wherever it is given: --flag, LUCE_FLAG, a key of the YAML file.
struct Option {
  const char* flag;      // without dashes
  const char* yaml_key;  // dotted; null for what only the command line has
  const char* value;     // its form, for help; null for a switch
  const char* help;
  unsigned commands;
  void (*set)(Settings& settings, const std::string& text);  // throws BadValue
  std::string (*show)(const Settings& settings);             // the value as text, for the defaults in help
  const char* yaml_unit = "";                                // what a plain number in the YAML file counts
};

/// What a value should have been, to be put behind "must be".
class BadValue : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// All settings: the only place that knows flags, keys, defaults and help.
std::span<const Option> option_table();
/// Null if there is none.
const Option* find_flag(std::string_view flag);
const Option* find_yaml_key(std::string_view key);
/// LUCE_GPU_MEMORY for gpu-memory.
std::string environment_name(const Option& option);

}  // namespace luce::app
