#pragma once

#include <string>

#include "completion/json.hpp"

namespace luce::completion {

/// Whether a value meets a JSON schema, read literally as the specification has it and apart from the code under test.
/// Knows what the tests' schemas use: no remote references, no $dynamicRef, formats as remarks.
bool schema_allows(const Json& schema, const Json& value, const Json& root);
inline bool schema_allows(const Json& schema, const Json& value) { return schema_allows(schema, value, schema); }

}  // namespace luce::completion
