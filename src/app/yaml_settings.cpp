#include "app/yaml_settings.hpp"

#include <yaml-cpp/yaml.h>

#include <set>

#include "app/nearest_name.hpp"
#include "base/error.hpp"

namespace luce::app {
namespace {

/// Walks the tree of one document; keys are joined with dots.
class YamlReader {
 public:
  YamlReader(const std::string& file, const Environment& environment) : file_(file), environment_(environment) {}

  std::vector<YamlSetting> read(const YAML::Node& root) {
    if (root.IsNull()) return {};
    if (!root.IsMap()) fail_at(root, "the file must be a map of keys");
    read_map(root, "");
    return std::move(settings_);
  }

 private:
  [[noreturn]] void fail_at(const YAML::Node& node, const std::string& complaint) const {
    fail(ErrorKind::usage, "{} line {}: {}", file_, node.Mark().line + 1, complaint);
  }

  void read_map(const YAML::Node& map, const std::string& prefix) {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) fail_at(entry.first, "a key must be a word");
      const std::string key = prefix + entry.first.Scalar();
      if (!seen.insert(key).second) fail_at(entry.first, "key '" + key + "' is given twice");
      read_entry(key, entry.first, entry.second);
    }
  }

  void read_entry(const std::string& key, const YAML::Node& name, const YAML::Node& value) {
    if (const Option* option = find_yaml_key(key)) return read_value(*option, name, value);
    if (!is_section(key))
      fail_at(name, "unknown key '" + key + "'; the nearest known key is '" + nearest_name(key, known_keys()) + "'");
    if (value.IsNull()) return;
    if (!value.IsMap()) fail_at(name, "'" + key + "' must hold keys of its own, such as " + first_key_of(key));
    read_map(value, key + ".");
  }

  void read_value(const Option& option, const YAML::Node& name, const YAML::Node& value) {
    const std::string key = option.yaml_key;
    std::string text;
    if (value.IsSequence() && takes_list(option)) {
      for (const YAML::Node& each : value) {
        if (!each.IsScalar()) fail_at(name, "'" + key + "' must be a list of words");
        text += (text.empty() ? "" : ",") + expand(each);
      }
    } else if (value.IsScalar()) {
      text = expand(value);
      const bool plain = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
      if (plain) text += option.yaml_unit;
    } else if (!value.IsNull()) {
      fail_at(name, "'" + key + "' must be " + (option.value == nullptr ? "true or false" : "a single value") +
                        ", not a " + (value.IsMap() ? "map" : "list"));
    }
    if (!text.empty() || (takes_list(option) && !value.IsNull()))
      settings_.push_back({&option, text, name.Mark().line + 1});
  }

  std::string expand(const YAML::Node& scalar) const {
    const std::string& text = scalar.Scalar();
    std::string out;
    for (size_t i = 0; i < text.size();) {
      const size_t end = text.compare(i, 2, "${") == 0 ? text.find('}', i) : std::string::npos;
      if (end == std::string::npos) {
        out += text[i++];
        continue;
      }
      const std::string name = text.substr(i + 2, end - i - 2);
      const auto value = environment_(name);
      if (!value) fail_at(scalar, "the environment variable '" + name + "' is not set");
      out += *value;
      i = end + 1;
    }
    return out;
  }

  static bool takes_list(const Option& option) {
    return option.value != nullptr && (std::string(option.value) == "LIST" || std::string(option.value) == "KEY[,KEY]");
  }

  static std::vector<std::string> known_keys() {
    std::vector<std::string> keys;
    for (const Option& each : option_table())
      if (each.yaml_key != nullptr) keys.emplace_back(each.yaml_key);
    return keys;
  }

  static std::string first_key_of(const std::string& section) {
    for (const std::string& each : known_keys())
      if (each.compare(0, section.size() + 1, section + ".") == 0) return each;
    return {};
  }

  static bool is_section(const std::string& key) { return !first_key_of(key).empty(); }

  const std::string& file_;
  const Environment& environment_;
  std::vector<YamlSetting> settings_;
};

}  // namespace

std::vector<YamlSetting> parse_yaml_settings(const std::string& file, const std::string& text,
                                             const Environment& environment) {
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    fail(ErrorKind::usage, "{} line {}: not valid YAML: {}", file, error.mark.line + 1, error.msg);
  }
  return YamlReader(file, environment).read(root);
}

}  // namespace luce::app
