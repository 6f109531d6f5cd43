#pragma once

#include <string_view>

#include "completion/grammar/program.hpp"

namespace luce::completion {

/// A grammar in GBNF, the notation that users of GGUF models know: rules "name ::= ...", of which "root" is the start.
/// Literals, sets, groups, alternatives, ., *, +, ?, {n,m} and # comments. Gives the node that reads a text of it and
/// goes on at `next`. Throws Error{invalid_request} with line and column, and param "grammar".
int compile_gbnf(GrammarBuilder& builder, std::string_view grammar, int next);

}  // namespace luce::completion
