#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "completion/json.hpp"

namespace luce::completion {

/// What is done with a keyword of JSON schema (draft 2020-12 and what earlier drafts and OpenAPI call otherwise).
enum class KeywordUse {
  remark,    // says nothing about the text of a value
  enforced,  // or refused with the place where a combination cannot be
  refused,   // cannot be had by a grammar
};

struct SchemaKeyword {
  std::string_view name;
  KeywordUse use;
};

/// All keywords that are known; others are remarks, as the specification has it.
std::span<const SchemaKeyword> schema_keywords();

/// Throws Error{invalid_request}: "PLACE WHAT".
[[noreturn]] void refuse_schema(const std::string& place, const std::string& what);

/// The first keyword in the schema that cannot be enforced and has an effect; null if there is none.
const SchemaKeyword* refused_keyword(const Json& schema);

const Json& empty_list();
/// A list that must be there and not empty.
const Json& list_of(const Json& schema, const std::string& key, const std::string& place);
/// A whole number of 0 or more; `otherwise` if there is none.
int count_of(const Json& schema, const std::string& key, const std::string& place, int otherwise);
/// The names in "type"; without it those that other keywords are about, or none.
std::vector<std::string> types_of(const Json& schema, const std::string& place);
std::vector<std::string> required_of(const Json& schema, const std::string& place);
/// The properties and, with any value, those that are required without being described.
Json properties_with_required(const Json& schema, const std::string& place);
/// A regular expression for a "format" that has one, else empty.
std::string pattern_of_format(const Json& schema);
/// "enum" and "const" as one list, null if there is neither.
Json listed_values(const Json& schema, const std::string& place);
/// Whether a value is of a type of JSON schema.
bool has_type(const Json& value, std::string_view type);

/// The place that a local reference names.
const Json& referenced(const Json& root, const std::string& reference, const std::string& place);
/// The schema itself or what its references lead to; what stands beside a reference is left out.
const Json& resolve_schema(const Json& schema, const Json& root, const std::string& place);
/// Whether anything but remarks is in a schema.
bool has_constraints(const Json& schema);

}  // namespace luce::completion
