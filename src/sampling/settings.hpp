#pragma once

#include <cstdint>
#include <vector>

namespace luce::sampling {

struct LogitBias {
  int32_t token = 0;
  float bias = 0;  // added to the logit after the penalties; -inf bans the token
};

/// How the next token is chosen. Order: penalties, logit bias, constraint, top_k, top_p, min_p, temperature.
struct SamplingSettings {
  float temperature = 1.0f;        // not above 0: greedy, the smallest id of the largest logits
  int top_k = 0;                   // 0: off
  float top_p = 1.0f;              // smallest set of the most likely tokens that reaches it; at least one is left
  float min_p = 0.0f;              // of the largest probability
  float repeat_penalty = 1.0f;     // divides positive and multiplies negative logits of tokens seen; the prompt counts
  int repeat_last_tokens = 64;     // how far back repeat_penalty looks; -1: all, 0: nowhere
  float presence_penalty = 0.0f;   // subtracted once from tokens generated; the prompt does not count
  float frequency_penalty = 0.0f;  // subtracted per time that a token was generated
  std::vector<LogitBias> logit_bias = {};
  uint64_t seed = 0;      // equal seeds and logits give equal tokens; drawing one at random is the caller's part
  bool logprobs = false;  // report log-probabilities: of the chosen token
  int top_logprobs = 0;   // and of so many most likely ones
};

}  // namespace luce::sampling
