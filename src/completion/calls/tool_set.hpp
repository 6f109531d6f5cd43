#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "completion/json.hpp"

namespace luce::completion {

/// How the text of a value becomes JSON.
enum class ValueKind : uint8_t {
  text,     // stays as it is
  boolean,  // true and false in any letter case
  json,     // read as JSON
  unknown,  // the schema does not say: JSON that is no string is read, anything else stays text
};

struct ValueRule {
  ValueKind kind = ValueKind::unknown;
  bool allows_null = false;
};

/// What a JSON schema says of a value's type. References are looked up in `root`.
ValueRule value_rule(const Json& schema, const Json& root);

/// The functions that a request offers.
class ToolSet {
 public:
  ToolSet() = default;
  /// `tools` as in the OpenAI API, already checked; null for none.
  explicit ToolSet(const Json& tools);

  bool empty() const { return parameters_.empty(); }
  bool offers(std::string_view function) const { return parameters_.find(function) != parameters_.end(); }
  /// The schema of a function's parameters, null if it has none or is not offered.
  const Json& parameters(std::string_view function) const;
  /// Whether the function asks that its calls keep to the schema to the letter.
  bool strict(std::string_view function) const { return strict_.find(function) != strict_.end(); }
  ValueRule rule(std::string_view function, std::string_view parameter) const;
  const std::map<std::string, Json, std::less<>>& all() const { return parameters_; }

 private:
  std::map<std::string, Json, std::less<>> parameters_;
  std::set<std::string, std::less<>> strict_;
};

/// The JSON text of a value that a model wrote as plain text. What cannot be read as its type becomes a JSON string.
std::string value_json(std::string_view text, const ValueRule& rule);

/// The inside of a JSON string for a piece of text in whole UTF-8.
std::string json_escaped(std::string_view text);
inline std::string json_quoted(std::string_view text) { return '"' + json_escaped(text) + '"'; }

}  // namespace luce::completion
