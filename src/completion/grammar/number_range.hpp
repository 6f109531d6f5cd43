#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "completion/grammar/program.hpp"
#include "completion/json.hpp"

namespace luce::completion {

/// The numbers that a schema allows.
struct NumberRule {
  struct Bound {
    bool negative = false;
    std::string digits = {};    // of the whole part, without leading zeros but for "0"
    std::string fraction = {};  // without trailing zeros
    bool open = false;          // the bound itself is not allowed
  };
  std::optional<Bound> least = {};
  std::optional<Bound> most = {};
  bool whole = false;            // no fraction is written
  std::optional<int> step = {};  // numbers are multiples of step / 10^step_digits
  int step_digits = 0;

  bool free() const { return !least && !most && !step; }
};

/// From minimum, maximum, their exclusive forms (as numbers or, of old, as booleans) and multipleOf. Throws
/// Error{invalid_request} for what is no number or is finer or larger than can be enforced.
NumberRule number_rule(const Json& schema, bool whole, const std::string& place);

/// The node that reads a number of the rule, in plain digits and with at most 16 of them on an open side, and goes on
/// at `next`; -1 if there is no such number.
int compile_number(GrammarBuilder& builder, const NumberRule& rule, int next);

}  // namespace luce::completion
