#pragma once

#include <string>
#include <string_view>

#include "completion/grammar/json_rules.hpp"

namespace luce::completion {

/// The node that reads the inside of a JSON string whose text matches a regular expression as JSON schema has it (the
/// common part of ECMA 262: no look-around, back-references or word boundaries). Throws Error{invalid_request} that
/// names `place`.
int compile_pattern(GrammarBuilder& builder, JsonRules& json, std::string_view pattern, const std::string& place,
                    int next);

}  // namespace luce::completion
