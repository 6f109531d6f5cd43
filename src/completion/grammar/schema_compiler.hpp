#pragma once

#include <map>
#include <string>
#include <vector>

#include "completion/grammar/json_rules.hpp"
#include "completion/grammar/number_range.hpp"
#include "completion/json.hpp"

namespace luce::completion {

/// What is done where a keyword cannot be enforced.
enum class SchemaDuty {
  all,       // refused
  possible,  // passed over; the rest of the schema holds
};

/// JSON schemas to grammar. A text of the grammar is a value that the schema allows; not all such values can be
/// written: keys of objects come in the schema's order, numbers with bounds have no exponent, and where a choice is
/// exclusive its branches are kept apart by leaving members out. schema_keywords() says what is done with each
/// keyword. Throws Error{invalid_request} that names the place and keyword of what cannot be had.
class SchemaCompiler {
 public:
  /// `root` is what references are looked up in; it must outlive the compiler.
  SchemaCompiler(GrammarBuilder& builder, JsonRules& json, const Json& root, SchemaDuty duty = SchemaDuty::all)
      : builder_(builder), json_(json), root_(root), duty_(duty) {}

  /// The node that reads a value of the schema and goes on at `next`. `place` names it in errors.
  int compile(const Json& schema, const std::string& place, int next);
  /// The schema without references and with its allOf joined, as far as both can be done at its own level.
  Json flattened(const Json& schema, const std::string& place);
  /// The node that reads the inside of a string of the schema; `raw`: as plain text, not as JSON.
  int string_inside(const Json& schema, const std::string& place, bool raw, int next);
  const Json& root() const { return root_; }
  /// For a place where `keyword` cannot be enforced: throws or, by duty, returns.
  void cannot(const std::string& place, const std::string& keyword, const std::string& why) const;

 private:
  struct Member {
    std::string name;
    int rule = 0;  // reads "name": value
    bool needed = false;
  };
  struct ObjectRule {
    std::vector<Member> members = {};
    bool others = false;    // members that are not named may be written
    int other_rule = 0;     // reads one of them
    int least = 0;          // members
    int most = kUnbounded;  // members
  };

  int constrained(const Json& schema, const std::string& place, int next);
  Json merge(const Json& base, const Json& more, const std::string& place);
  Json without_references(const Json& schema, const std::string& place);
  int reference(const Json& schema, const std::string& place, int next);
  int variants(const Json& schema, const std::string& key, const std::string& place, int next);
  int dependents(const Json& schema, const std::string& place, int next);
  int constants(const Json& schema, const std::string& place, int next);
  int typed(const Json& schema, const std::string& type, const std::string& place, int next);
  int number(const Json& schema, bool whole, const std::string& place, int next);

  int object(const Json& schema, const std::string& place, int next);
  ObjectRule object_rule(const Json& schema, const std::string& place);
  void add_members(const Json& schema, const std::string& place, ObjectRule& rule);
  void add_others(const Json& schema, const std::string& place, ObjectRule& rule);
  int other_name(const Json& schema, const std::string& place, int next);
  void check_named(const Json& schema, const std::string& place);
  int members_after(const ObjectRule& rule, int written, int next);

  int array(const Json& schema, const std::string& place, int next);
  int items(const Json& schema, const std::string& place, int next);
  int unique_items(const Json& schema, const std::string& place, int next);

  int string(const Json& schema, const std::string& place, int next);

  GrammarBuilder& builder_;
  JsonRules& json_;
  const Json& root_;
  SchemaDuty duty_;
  std::map<std::string, int> references_;  // to rules
  int depth_ = 0;
  size_t merged_ = 0;  // values in all schemas that were joined
};

}  // namespace luce::completion
