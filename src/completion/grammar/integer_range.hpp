#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "completion/grammar/program.hpp"
#include "completion/json.hpp"

namespace luce::completion {

/// Whole numbers that a schema allows; both ends belong to them.
struct IntegerBounds {
  std::optional<int64_t> least = {};
  std::optional<int64_t> most = {};
};

/// From minimum, maximum and their exclusive forms. Throws Error{invalid_request} for bounds that are no numbers.
IntegerBounds integer_bounds(const Json& schema, const std::string& place);

/// The node that reads a whole number within bounds, of at most 16 digits on an open side, and goes on at `next`.
int compile_integer_range(GrammarBuilder& builder, const IntegerBounds& bounds, int next);

}  // namespace luce::completion
