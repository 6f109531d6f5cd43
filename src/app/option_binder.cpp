#include "app/command_line.hpp"
#include "base/format.hpp"

namespace luce::app {
namespace {

std::string describe(const Option& option) {
  std::string text = option.help;
  if (option.yaml_key != nullptr) text += fmt::format(" (YAML: {})", option.yaml_key);
  return text;
}

std::string form_and_default(const Option& option) {
  const std::string standard = option.show(Settings{});
  std::string text = option.value == nullptr ? std::string() : option.value;
  if (!standard.empty()) text += fmt::format("{}[{}]", text.empty() ? "" : " ", standard);
  return text;
}

}  // namespace

OptionBinder::OptionBinder(CLI::App& command, CommandBit bit) {
  const auto keep = [texts = texts_](const std::string& flag) {
    return [texts, flag](const std::string& text) { (*texts)[flag] = text; };
  };
  for (const Option& option : option_table()) {
    if ((option.commands & bit) == 0) continue;
    const std::string flag = option.flag;
    CLI::Option* added = nullptr;
    if (option.value == nullptr) {
      const std::string names = fmt::format("--{0},!--no-{0}", flag);
      added = command.add_flag_function(
          names, [texts = texts_, flag](int64_t count) { (*texts)[flag] = count > 0 ? "true" : "false"; },
          describe(option));
    } else {
      added = command.add_option_function<std::string>("--" + flag, keep(flag), describe(option));
    }
    added->option_text(form_and_default(option));
  }
  if (bit == kServe || bit == kRun)
    command.add_option_function<std::string>("--config", keep("config"), "YAML file with settings")
        ->option_text("FILE");
  command.footer(
      "Each option can also be set as environment variable LUCE_<OPTION> (--gpu-memory: LUCE_GPU_MEMORY) or by its "
      "YAML "
      "key.\nAn option beats the environment, which beats the YAML file. Models named by NAME lie in the folder of "
      "LUCE_MODELS.");
}

ResolvedSettings OptionBinder::resolve() const {
  ResolvedSettings settings = resolve_settings(*texts_, process_environment);
  settings.warnings = unknown_variables();
  return settings;
}

}  // namespace luce::app
