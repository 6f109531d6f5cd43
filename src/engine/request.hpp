#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sampling/settings.hpp"
#include "sampling/token_constraint.hpp"

namespace luce::engine {

using Clock = std::chrono::steady_clock;

/// What a client wants generated, in tokens.
struct Request {
  std::vector<int32_t> tokens = {};  // the prompt, at least one
  sampling::SamplingSettings sampling = {};
  int max_tokens = -1;                   // below 0: as many as the context holds
  std::vector<int32_t> end_tokens = {};  // end the reply; not reported as tokens and not counted as generated
  bool ignore_eos = false;  // end tokens are never chosen; the reply ends where its constraint leaves nothing else
  std::unique_ptr<sampling::TokenConstraint> constraint = {};  // may be null

  std::string session_id = {};      // empty: none; keeps a conversation on its prompt cache
  std::string task_tag = {};        // empty: none
  bool use_prompt_cache = true;     // false: computes the whole prompt and keeps nothing of it
  std::vector<int> turn_ends = {};  // prompt positions where a later prompt is likely to part from this one, ascending
  std::optional<Clock::time_point> deadline = {};  // ends with Failed{cancelled} when it passes
};

}  // namespace luce::engine
