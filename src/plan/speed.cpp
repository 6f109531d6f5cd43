#include "plan/speed.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "plan/memory_plan.hpp"

namespace luce::plan {

TokenTraffic token_traffic(const ModelShape& shape, tensor::Format kv_format, int64_t depth_tokens) {
  TokenTraffic traffic;
  traffic.dense_bytes = shape.output_bytes;
  if (shape.vocabulary > 0) traffic.dense_bytes += shape.embedding_bytes / shape.vocabulary;
  traffic.kv_bytes = kv_bytes(shape, kv_format, depth_tokens);
  for (const LayerShape& layer : shape.layers) {
    traffic.dense_bytes += layer.dense_bytes;
    traffic.kv_bytes += layer.recurrent_bytes;
  }
  traffic.expert_bytes = token_cycle_bytes(shape);
  return traffic;
}

DecodeEstimate estimate_decode(const TokenTraffic& traffic, double hit_ratio, const Bandwidths& bandwidths) {
  if (!(bandwidths.memory > 0.0) || !(bandwidths.link > 0.0))
    fail(ErrorKind::usage, "speed estimate: bandwidths must be above 0, found {} and {} bytes/s", bandwidths.memory,
         bandwidths.link);
  const double miss_ratio = 1.0 - std::clamp(hit_ratio, 0.0, 1.0);
  DecodeEstimate estimate;
  estimate.memory_seconds = static_cast<double>(traffic.total_bytes()) / bandwidths.memory;
  estimate.link_seconds = miss_ratio * static_cast<double>(traffic.expert_bytes) / bandwidths.link;
  const double seconds = estimate.memory_seconds + estimate.link_seconds;
  estimate.tokens_per_second = seconds > 0.0 ? 1.0 / seconds : 0.0;
  estimate.bound = estimate.link_seconds > estimate.memory_seconds ? Bound::link : Bound::memory;
  return estimate;
}

}  // namespace luce::plan
