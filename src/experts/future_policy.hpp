#pragma once

#include "experts/policy.hpp"
#include "experts/trace_steps.hpp"

namespace luce::experts {

/// Evicts what is used again latest, knowing the whole trace: the optimum if every miss must be admitted, and with
/// `bypass` the optimum for hits if a miss may stay out. For judging other policies in replay.
PolicyFactory future_policy(TraceSteps& steps, bool bypass);

}  // namespace luce::experts
