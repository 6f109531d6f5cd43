#pragma once

#include <cstdint>

#include "plan/model_shape.hpp"
#include "tensor/format.hpp"

namespace luce::plan {

/// Bytes that one decoded token reads.
struct TokenTraffic {
  int64_t dense_bytes = 0;   // weights read whole, and one row of the token table
  int64_t kv_bytes = 0;      // keys and values of the positions before it, and the recurrent state
  int64_t expert_bytes = 0;  // the token cycle

  int64_t total_bytes() const { return dense_bytes + kv_bytes + expert_bytes; }
};

TokenTraffic token_traffic(const ModelShape& shape, tensor::Format kv_format, int64_t depth_tokens);

/// Measured bandwidths in bytes per second.
struct Bandwidths {
  double memory = 0;  // reads of the tier that computes
  double link = 0;    // fetches of missing experts: file or RAM
};

enum class Bound { memory, link };  // what takes the larger part of the time

struct DecodeEstimate {
  double memory_seconds = 0;  // per token
  double link_seconds = 0;    // per token, misses only
  double tokens_per_second = 0;
  Bound bound = Bound::memory;
};

/// A roofline for one sequence: every byte is read once at full bandwidth and a miss waits for the link, so a real
/// engine is slower. `hit_ratio` is clamped to 0..1; bandwidths must be above 0.
DecodeEstimate estimate_decode(const TokenTraffic& traffic, double hit_ratio, const Bandwidths& bandwidths);

}  // namespace luce::plan
