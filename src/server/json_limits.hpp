#pragma once

#include <string_view>

#include "completion/json.hpp"

namespace luce::server {

/// Bounds on a request's JSON, checked on its text before anything is built from it: depth protects the stack, the
/// number of values memory, and the members of objects time (lookup in an ordered object is linear).
struct JsonLimits {
  int depth = 128;
  size_t values = 1'000'000;
  size_t squared_members = 100'000'000;  // sum over all objects of their members squared
};

/// The object that a body holds. Throws Error{invalid_request} that says what is wrong and, for bad JSON, where,
/// without copying the body.
completion::Json parse_json_object(std::string_view body, const JsonLimits& limits = {});

}  // namespace luce::server
