#pragma once

#include <string>
#include <vector>

#include "completion/json.hpp"

namespace luce::completion {

// Keywords of JSON schemas, read and checked. `place` says where in the schema they stand; what is malformed throws
// Error{invalid_request} that names it.

[[noreturn]] void refuse_schema(const std::string& place, const std::string& what);

const Json& empty_list();
/// A list that is not empty.
const Json& list_of(const Json& schema, const std::string& key, const std::string& place);
/// A count of 0 or more; `otherwise` if the key is missing.
int count_of(const Json& schema, const std::string& key, const std::string& place, int otherwise);
/// Names of types, from "type" or what else the schema says; empty: any.
std::vector<std::string> types_of(const Json& schema, const std::string& place);
std::vector<std::string> required_of(const Json& schema, const std::string& place);
/// The properties, and required ones that the schema does not describe, with any value.
Json properties_with_required(const Json& schema, const std::string& place);
/// A regular expression for the formats that are enforced: date, time, date-time, uuid; empty for others.
std::string pattern_of_format(const Json& schema);

/// The schema that a local reference ("#/...") names in `root`.
const Json& referenced(const Json& root, const std::string& reference, const std::string& place);
/// `schema` itself, or what its chain of references leads to.
const Json& resolve_schema(const Json& schema, const Json& root, const std::string& place);
/// Whether anything in it restricts a value: titles, descriptions, definitions and the like do not.
bool has_constraints(const Json& schema);
/// A schema for values that satisfy both: properties and required are joined, other keywords of `more` win.
Json merge_schemas(const Json& base, const Json& more, const std::string& place);

}  // namespace luce::completion
