#pragma once

#include <string>
#include <string_view>

#include "completion/grammar/json_rules.hpp"
#include "completion/grammar/pattern_syntax.hpp"

namespace luce::completion {

/// A pattern whose text stands inside a JSON string or, `raw`, as it is.
struct PatternText {
  const PatternNode& pattern;
  bool raw = false;
};

/// The node that reads a text which matches a regular expression as JSON schema has it (the common part of ECMA 262: no
/// look-around, back-references or word boundaries).
int compile_pattern(GrammarBuilder& builder, JsonRules& json, const PatternText& text, int next);
/// The same inside a JSON string. Throws Error{invalid_request} that names `place`.
int compile_pattern(GrammarBuilder& builder, JsonRules& json, std::string_view pattern, const std::string& place,
                    int next);

/// One character of raw text; "<" begins markup and is none.
int raw_character(GrammarBuilder& builder, int next);

}  // namespace luce::completion
