#pragma once

#include <string>

#include "completion/grammar/json_rules.hpp"
#include "completion/grammar/schema_compiler.hpp"
#include "completion/json.hpp"
#include "completion/reply/reply_format.hpp"

namespace luce::completion {

/// Builds the texts of tool calls in a model's own form.
class CallGrammar {
 public:
  CallGrammar(GrammarBuilder& builder, JsonRules& json, CallForm form, SchemaDuty duty = SchemaDuty::possible)
      : builder_(builder), json_(json), form_(form), duty_(duty) {}

  /// The node that reads one call of a function whose parameters have the schema. Throws Error{invalid_request} that
  /// names the place inside the schema.
  int call(const std::string& function, const Json& parameters, int next);

 private:
  int tagged(const Json& parameters, int next);
  int key_values(const Json& parameters, int next);
  int arguments(const Json& parameters, int next);
  /// A value in plain text with what ends it.
  int plain_value(SchemaCompiler& schemas, const Json& schema, const std::string& place, int next);
  int plain_text(SchemaCompiler& schemas, const Json& schema, const std::string& place, int next);
  template <typename Member>
  int members(const Json& parameters, Member member, int next);

  GrammarBuilder& builder_;
  JsonRules& json_;
  CallForm form_;
  SchemaDuty duty_;
  std::string value_end_;
  int variants_ = 0;
};

}  // namespace luce::completion
