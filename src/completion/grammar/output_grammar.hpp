#pragma once

#include <memory>

#include "completion/grammar/program.hpp"
#include "completion/input.hpp"
#include "completion/reply_plan.hpp"

namespace luce::completion {

/// The grammar of a whole reply: reasoning, where the plan has it, then the answer in the format that was asked for or
/// the call that is forced. Null if nothing is constrained. Throws Error{invalid_request} with param() for a schema or
/// grammar that cannot be had.
std::shared_ptr<const GrammarProgram> output_grammar(const ReplyPlan& plan, const OutputConstraint& output);

}  // namespace luce::completion
