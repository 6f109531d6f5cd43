#pragma once

#include <map>
#include <string>
#include <vector>

#include "completion/grammar/json_rules.hpp"
#include "completion/json.hpp"

namespace luce::completion {

/// JSON schemas to grammar. Keys of objects come in the schema's order; optional ones may be left out. Bounds of
/// numbers are met for integers; uniqueItems, multipleOf, not and if are not enforced, but must be well formed. Throws
/// Error{invalid_request} that names the place and keyword of what cannot be had.
class SchemaCompiler {
 public:
  /// `root` is what references are looked up in; it must outlive the compiler.
  SchemaCompiler(GrammarBuilder& builder, JsonRules& json, const Json& root)
      : builder_(builder), json_(json), root_(root) {}

  /// The node that reads a value of the schema and goes on at `next`. `place` names it in errors.
  int compile(const Json& schema, const std::string& place, int next);

 private:
  using Names = std::vector<std::string>;

  int reference(const std::string& reference, const std::string& place, int next);
  int variants(const Json& schema, const std::string& key, const std::string& place, int next);
  int merged(const Json& schema, const std::string& place, int next);
  int constants(const Json& values, int next);
  int typed(const Json& schema, const std::string& type, const std::string& place, int next);
  int object(const Json& schema, const std::string& place, int next);
  int member(const Json& property, const std::string& name, const std::string& place, int next);
  int other_members(const Json& schema, const std::string& place, bool first, int next);
  int array(const Json& schema, const std::string& place, int next);
  int string(const Json& schema, const std::string& place, int next);
  int integer(const Json& schema, const std::string& place, int next);

  GrammarBuilder& builder_;
  JsonRules& json_;
  const Json& root_;
  std::map<std::string, int> references_;  // to rules
  int depth_ = 0;
};

}  // namespace luce::completion
