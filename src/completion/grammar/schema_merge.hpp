#pragma once

#include <string>

#include "completion/json.hpp"

namespace luce::completion {

/// A schema that allows what both of two allow; neither has a $ref. Parts that cannot be joined at once stand in an
/// allOf of the result. Throws Error{invalid_request} that names `place` where nothing is allowed by both or where
/// that cannot be told.
Json merge_schemas(const Json& base, const Json& more, const std::string& place);

}  // namespace luce::completion
