#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "sampling/sampler.hpp"

namespace luce::engine {

/// What the expert cache did for one request. Steps that several sequences share are split by their rows.
struct ExpertStats {
  double hits = 0;    // (row, expert) pairs found resident
  double misses = 0;  // and those that were not
  double bytes_fetched = 0;
  double stall_ms = 0;
  double substituted = 0;  // routed experts replaced by a bias
  double dropped = 0;      // and those that a smaller top-k left out
  double reweighted = 0;   // and those whose weight another router temperature gave
};

struct RequestStats {
  int prompt_tokens = 0;
  int cached_tokens = 0;  // of the prompt, taken from the prompt cache
  int generated_tokens = 0;
  double queue_seconds = 0;
  double prompt_seconds = 0;       // from leaving the queue to the first token
  double decode_seconds = 0;       // from the first token to the end
  double first_token_seconds = 0;  // from submit to the first token
  ExpertStats experts = {};
};

struct Token {
  int32_t id = 0;
  float logprob = 0;
  std::vector<sampling::TokenLogprob> top = {};  // [top_logprobs]
};

enum class FinishReason {
  end_token,
  length,   // max_tokens or the context is reached
  stopped,  // the reader had all it wanted: RequestHandle::stop()
};

struct Finished {
  FinishReason reason = FinishReason::end_token;
  RequestStats stats = {};
};

struct Failed {
  ErrorKind kind = ErrorKind::internal;
  std::string message = {};
  RequestStats stats = {};
};

/// A request gives tokens, then exactly one Finished or Failed.
using Event = std::variant<Token, Finished, Failed>;

}  // namespace luce::engine
